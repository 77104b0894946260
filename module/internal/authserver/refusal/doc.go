// Package refusal holds what checks have in common when they refuse a request: the error is an
// [oauth.Error], whatever surface asked. It knows neither requests nor answers; a page, a JSON
// answer, a redirect or a poll each writes a refusal in its own form, in one function.
package refusal
