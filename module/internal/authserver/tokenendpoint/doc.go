// Package tokenendpoint is the token endpoint: it asks the grant type what to issue, signs it
// and answers. It knows neither how clients authenticate nor what a grant type checks.
package tokenendpoint
