// Package userclaims says which claims about a user OpenID Connect's scopes ask for, and what
// they are. It knows neither tokens nor clients.
package userclaims
