package quickstart

import (
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
)

func TestREADMEWalkthroughWorksLineByLine(t *testing.T) {
	example.Promised(t, start(t).Walk(t),
		"HTTP/1.1 401", "Www-Authenticate: Bearer", `"code":"unauthorized"`, // without a token
		"ok",                                         // public
		`"title":`, "X-RateLimit-Limit: 1000", "403", // a program
		"Sign in</h1>", "Article Reader", // the pages
		"state=", "u-1001", // a user
		"invalid_grant", "401", "invalid_grant", // the code a second time
		"urn:ietf:params:oauth:request_uri:", "</h1>", // pushed
		`"active":true`, "401", "authorization_servers", // ended, and the API's own metadata
		"client_id:", "batch", `"scope":"articles:read"`, // a client with a key
		"SOURCE", "nightly", "no living grant", "ES256", "403 forbidden", "ok    store", "Removed client batch", // behind the counter
		"caddy_gatehouse_guard_decisions_total",   // what is counted
		"articles:raed", "X-RateLimit-Limit: 500", // a mistake and a change
	)
}
