// Package oauthhttp reads the forms and bearer tokens of requests that programs send, and
// writes JSON answers and OAuth errors. It knows no endpoint, and neither clients nor tokens.
package oauthhttp
