// Package refusal has what checks share when they refuse a request: the error wraps an [oauth.Error],
// whatever surface asked. Each surface (page, JSON response, redirect, poll) writes refusals in its own
// form, in one function. The package knows neither requests nor responses.
package refusal
