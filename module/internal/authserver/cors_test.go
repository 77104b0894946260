package authserver_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestCORSAllowsRegisteredOriginsOnly(t *testing.T) { // T19, A36
	g := newTokenRig(t)
	token, keys := tokenIssuer+"/token", tokenIssuer+"/.well-known/jwks.json"
	for _, c := range []struct {
		name, method, target, origin string
		status                       int
		allowed                      string
	}{
		{"a registered origin", "POST", token, "https://spa.example", 400, "https://spa.example"},
		{"its preflight", "OPTIONS", token, "https://spa.example", 204, "https://spa.example"},
		{"another method", "GET", token, "https://spa.example", 405, "https://spa.example"},
		{"an unknown origin", "POST", token, "https://evil.example", 400, ""},
		{"its preflight", "OPTIONS", token, "https://evil.example", 204, ""},
		{"a prefix", "OPTIONS", token, "https://spa.example.evil.example", 204, ""},
		{"another scheme", "OPTIONS", token, "http://spa.example", 204, ""},
		{"a confidential client's redirect address", "OPTIONS", token, "https://web.example", 204, ""},
		{"null", "OPTIONS", token, "null", 204, ""},
		{"none", "POST", token, "", 400, ""},
		{"keys", "GET", keys, "https://evil.example", 200, "*"},
		{"preflight of the keys", "OPTIONS", keys, "https://evil.example", 204, "*"},
		{"metadata", "GET", "https://id.example/.well-known/oauth-authorization-server/auth", "https://evil.example", 200, "*"},
		{"authorize", "GET", tokenIssuer + "/authorize", "https://spa.example", 0, ""},
		{"preflight of authorize", "OPTIONS", tokenIssuer + "/authorize", "https://spa.example", 405, ""},
		{"revoke", "POST", tokenIssuer + "/revoke", "https://spa.example", 400, "https://spa.example"},
		{"preflight of revoke", "OPTIONS", tokenIssuer + "/revoke", "https://spa.example", 204, "https://spa.example"},
		{"revoke for a stranger", "OPTIONS", tokenIssuer + "/revoke", "https://evil.example", 204, ""},
		{"introspect", "POST", tokenIssuer + "/introspect", "https://spa.example", 400, ""},
		{"preflight of introspect", "OPTIONS", tokenIssuer + "/introspect", "https://spa.example", 405, ""},
		{"login", "OPTIONS", tokenIssuer + "/login", "https://spa.example", 405, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := g.do(c.method, c.target, "", "Origin", c.origin, "Access-Control-Request-Method", "POST")
			if c.status != 0 && a.status != c.status {
				t.Errorf("status %d, want %d", a.status, c.status)
			}
			if got := a.header.Get("Access-Control-Allow-Origin"); got != c.allowed {
				t.Errorf("allowed %q, want %q", got, c.allowed)
			}
			if _, ok := a.header["Access-Control-Allow-Credentials"]; ok {
				t.Error("credentials are allowed")
			}
			if c.target == token && !strings.HasPrefix(a.header.Get("Vary"), "Origin") {
				t.Error("no Vary: Origin")
			}
			if c.allowed != "" && c.method == http.MethodOptions && !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Authorization") {
				t.Error("the preflight allows no Authorization")
			}
			if any := strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "*"); any != (c.allowed == "*" && c.method == http.MethodOptions) {
				t.Errorf("any header field: %v", any)
			}
		})
	}
}

// Libraries send fields of their own: okta-auth-js, OpenTelemetry, Sentry.
func TestPreflightAllowsTheFieldsARegisteredOriginAsksFor(t *testing.T) {
	g := newTokenRig(t)
	usual := "Authorization, Content-Type, If-None-Match"
	for _, path := range []string{"/token", "/revoke"} {
		for _, c := range []struct{ origin, asked, want string }{
			{"https://spa.example", "x-okta-user-agent-extended,traceparent", "x-okta-user-agent-extended,traceparent"},
			{"https://spa.example", "content-type,sentry-trace", "content-type,sentry-trace"},
			{"https://spa.example", "", usual},
			{"https://spa.example", "x a", usual},
			{"https://spa.example", strings.Repeat("x", 1025), usual},
			{"https://evil.example", "traceparent", ""},
		} {
			a := g.do("OPTIONS", tokenIssuer+path, "", "Origin", c.origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", c.asked)
			if got := a.header.Get("Access-Control-Allow-Headers"); got != c.want {
				t.Errorf("%s asked from %s for %.40q: allows %q, want %q", path, c.origin, c.asked, got, c.want)
			}
			if vary := a.header.Get("Vary"); vary != "Origin, Access-Control-Request-Headers" {
				t.Errorf("%s: Vary is %q", path, vary)
			}
		}
	}
}
