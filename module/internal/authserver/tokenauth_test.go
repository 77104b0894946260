package authserver_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

func TestClientAuthentication(t *testing.T) { // T07-T13
	g := newTokenRig(t)
	web := params{"grant_type": "client_credentials"}
	post := web.with("client_id", "web")
	spaces := url.QueryEscape("a b%")
	odd := webSecret + "+%:"
	spa := params{"grant_type": "refresh_token", "refresh_token": "x"}
	challenge := `Basic realm="gatehouse", charset="UTF-8"`
	for _, c := range []struct {
		name, authorization string
		form                params
		status              int
		code, challenge     string
	}{
		{"Basic", basic("web", webSecret), web, 200, "", ""},
		{"Basic in lower case", "basic" + basic("web", webSecret)[5:], web, 200, "", ""},
		{"Basic, form-encoded", basic(spaces, url.QueryEscape(odd)), web, 200, "", ""},
		{"Basic, raw", basic("a b%", odd), web, 200, "", ""},
		{"Basic and an equal client_id", basic("web", webSecret), post, 200, "", ""},
		{"Basic, form-encoded, and an equal client_id", basic(spaces, url.QueryEscape(odd)), web.with("client_id", "a b%"), 200, "", ""},
		{"post", "", post.with("client_secret", webSecret), 200, "", ""},
		{"post with odd characters", "", web.with("client_id", "a b%").with("client_secret", odd), 200, "", ""},
		{"Basic, wrong secret", basic("web", "wrong"), web, 401, "invalid_client", challenge},
		{"Basic, unknown client", basic("nobody", webSecret), web, 401, "invalid_client", challenge},
		{"Basic, secret of a longer name", basic("web", webSecret+"x"), web, 401, "invalid_client", challenge},
		{"Basic, empty secret of a confidential client", basic("web", ""), web, 401, "invalid_client", challenge},
		{"Basic, another client_id in the body", basic("web", webSecret), web.with("client_id", "job"), 400, "invalid_request", ""},
		{"Basic, the digest as secret", basic("web", secret.Digest(webSecret)), web, 401, "invalid_client", challenge},
		{"post, wrong secret", "", post.with("client_secret", "wrong"), 401, "invalid_client", ""},
		{"post, unknown client", "", web.with("client_id", "nobody").with("client_secret", "wrong"), 401, "invalid_client", ""},
		{"post, no secret", "", post, 401, "invalid_client", ""},
		{"nothing at all", "", web, 401, "invalid_client", ""},
		{"a secret without client_id", "", web.with("client_secret", webSecret), 401, "invalid_client", ""},
		{"an assertion without its type", "", post.with("client_assertion", "x"), 400, "invalid_request", ""},
		{"both ways", basic("web", webSecret), web.with("client_secret", webSecret), 400, "invalid_request", ""},
		{"Basic and an assertion", basic("web", webSecret), web.with("client_assertion", "x"), 400, "invalid_request", ""},
		{"another scheme", "Bearer " + webSecret, post, 401, "invalid_client", challenge},
		{"no base64", "Basic %%%", web, 400, "invalid_request", ""},
		{"base64 without padding", "Basic " + base64.RawStdEncoding.EncodeToString([]byte("web:x")), web, 400, "invalid_request", ""},
		{"no colon", "Basic " + base64.StdEncoding.EncodeToString([]byte("web")), web, 400, "invalid_request", ""},
		{"no id", basic("", webSecret), web, 400, "invalid_request", ""},
		{"nothing in Basic", "Basic ", web, 400, "invalid_request", ""},
		{"only the scheme", "Basic", web, 400, "invalid_request", ""},
		{"not UTF-8", basic("\xff", "x"), web, 400, "invalid_request", ""},
		{"NUL", basic("web\x00", "x"), web, 400, "invalid_request", ""},
		{"a long header", basic("web", strings.Repeat("x", 8<<10)), web, 400, "invalid_request", ""},
		{"a long secret", basic("web", strings.Repeat("x", 4<<10)), web, 401, "invalid_client", challenge},
		{"a long client_id", "", web.with("client_id", strings.Repeat("x", 4<<10)), 401, "invalid_client", ""},
		{"public", "", spa.with("client_id", "spa"), 400, "invalid_grant", ""},
		{"public by Basic with an empty secret", basic("spa", ""), spa, 400, "invalid_grant", ""},
		{"public by Basic with an empty secret and client_id", basic("spa", ""), spa.with("client_id", "spa"), 400, "invalid_grant", ""},
		{"public with an empty client_secret", "", spa.with("client_id", "spa"), 400, "invalid_grant", ""},
		{"public with a secret", "", spa.with("client_id", "spa").with("client_secret", "x"), 401, "invalid_client", ""},
		{"public with a secret by Basic", basic("spa", "x"), spa, 401, "invalid_client", challenge},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.pass(time.Minute)
			header := []string{"Authorization", c.authorization}
			a := g.want(g.token(c.form, header...), c.status, c.code)
			if got := a.header.Get("WWW-Authenticate"); got != c.challenge {
				t.Errorf("WWW-Authenticate: %q, want %q", got, c.challenge)
			}
		})
	}
}

func TestFailuresAreThrottledByClientAndAddress(t *testing.T) { // T21
	g := newTokenRig(t)
	job := params{"grant_type": "client_credentials"}
	for range 10 {
		g.want(g.token(job, "Authorization", basic("web", "wrong")), 401, "invalid_client")
	}
	a := g.want(g.token(job, "Authorization", basic("web", "wrong")), 429, "slow_down")
	if a.header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
	}
	g.want(g.token(job.with("client_id", "web").with("client_secret", webSecret)), 429, "slow_down")
	if g.metrics.last() != "client_credentials slow_down" {
		t.Error(g.metrics.last())
	}
	g.want(g.token(job, "Authorization", basic("w%65b", "wrong")), 429, "slow_down")
	g.want(g.token(job.with("scope", "read"), "Authorization", basic("job", webSecret)), 200, "")
	g.from("192.0.2.2")
	g.want(g.token(job, "Authorization", basic("web", webSecret)), 200, "")
	g.from("192.0.2.1")
	g.pass(time.Minute)
	g.want(g.token(job, "Authorization", basic("web", webSecret)), 200, "")
	g.from("2001:db8::1")
	for range 10 {
		g.want(g.token(job, "Authorization", basic("web", "wrong")), 401, "invalid_client")
	}
	g.from("2001:db8::2")
	g.want(g.token(job, "Authorization", basic("web", "wrong")), 429, "slow_down")
}

func TestOnlyFailedSecretsAreCounted(t *testing.T) { // T21
	g := newTokenRig(t)
	for range 50 {
		g.want(g.token(params{"grant_type": "client_credentials"}, "Authorization", basic("web", webSecret)), 200, "")
		g.want(g.token(params{"grant_type": "refresh_token", "refresh_token": "x", "client_id": "app"}), 400, "invalid_grant")
	}
	// An address that guesses without a client is not throttled into a hint.
	for range 10 {
		g.want(g.token(params{"grant_type": "x"}, "Authorization", basic("nobody", "wrong")), 401, "invalid_client")
	}
	g.want(g.token(params{"grant_type": "x"}, "Authorization", basic("nobody", "wrong")), 429, "slow_down")
}
