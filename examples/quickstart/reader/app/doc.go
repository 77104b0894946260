// Package app is a client as the quick start needs one: a small web application
// with a secret, which signs its users in at the gateway and reads articles with
// the token it gets. The token stays on the server; the browser holds a random
// session cookie and nothing else.
package app
