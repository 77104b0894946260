// Package authserver owns the authorization server: the endpoints and pages below
// the issuer, the sign-in in progress, sessions and consent. It is plain net/http
// and knows neither Caddy nor a database; how a token is made belongs to package
// token, what each grant type checks to package grant, how a page looks to webui.
package authserver
