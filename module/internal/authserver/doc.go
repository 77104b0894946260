// Package authserver assembles the authorization server from the packages below it: it wires endpoints
// and pages together and has the table of routes with what happens around each handler. It uses plain
// net/http and knows neither Caddy nor a database.
package authserver
