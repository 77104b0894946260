package guard

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/internal/lockout"
)

func TestUpstreamPreflightNeedsAMatchingRule(t *testing.T) {
	closed := build(t, func(c *Config) { c.CORSUpstream = true })
	open := build(t, func(c *Config) { c.CORSUpstream, c.Otherwise = true, Token })
	for _, c := range []struct {
		target, asked  string
		closed, opened int // status, 0 when it passes
	}{
		{"/articles/7", "GET", 0, 0},
		{"/articles", "POST", 0, 0},
		{"/articles/7", "POST", 403, 0},
		{"/articles/7", "OPTIONS", 403, 0},
		{"/public/x", "X-OWN", 0, 0},
		{"/else", "GET", 403, 0},
		{"/articles", "get", 403, 403},
		{"/articles", "TRACE", 403, 403},
		{"/articles", "G T", 403, 403},
		{"/articles/a%2Fb", "GET", 400, 400},
		{"/articles/../x", "GET", 400, 400},
		{"/articles?access_token=x", "GET", 400, 400},
	} {
		for g, want := range map[*Guard]int{closed: c.closed, open: c.opened} {
			d := g.Decide(request("OPTIONS", c.target, "Origin", reader, "Access-Control-Request-Method", c.asked))
			if d.Status != want || d.Allowed != (want == 0) || d.Allowed && (d.Reason != Preflight || d.Access != nil) {
				t.Errorf("%s %s: %+v, want %d", c.asked, c.target, d, want)
			}
		}
	}
	if _, err := New(Config{Verifier: known(), Issuer: issuer, CORSUpstream: true, CORS: []string{reader}}); err == nil {
		t.Error("origins and the upstream exclude each other")
	}
}

// What passes as a preflight is what the guard would judge by a rule, or by `otherwise
// token`, if it were the request that it asks about.
func TestPreflightPassesOnlyForAPermittedRequest(t *testing.T) {
	g := build(t, func(c *Config) { c.CORSUpstream = true })
	segments := []string{"articles", "health", "admin", "public", "x", "%2F", "..", "", "%61"}
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(segments), 0, 4).Draw(t, "path"), "/")
		method := rapid.SampledFrom([]string{"GET", "HEAD", "POST", "DELETE", "OPTIONS", "TRACE", "get", ""}).Draw(t, "method")
		d := g.Decide(request("OPTIONS", path, "Origin", reader, "Access-Control-Request-Method", method))
		if !d.Allowed || d.Reason != Preflight {
			return
		}
		if real := g.Decide(request(method, path)); !real.Allowed && real.Reason != NoCredentials {
			t.Fatalf("%s %s: the preflight passes, the request is %+v", method, path, real)
		}
	})
}

func TestUpstreamPreflightsAreCountedByAddress(t *testing.T) {
	at := noon
	now := func() time.Time { return at }
	ip := "192.0.2.1"
	g := build(t, func(c *Config) {
		c.CORSUpstream, c.Attempts, c.ClientIP = true, lockout.NewBook(10, now), func(*http.Request) string { return ip }
	})
	ask := func(method string) Decision {
		return g.Decide(request("OPTIONS", "/articles", "Origin", reader, "Access-Control-Request-Method", method))
	}
	for range preflightRate.Limit {
		ask("DELETE") // refused, and not counted
		if d := ask("GET"); !d.Allowed {
			t.Fatalf("%+v", d)
		}
	}
	if d := ask("GET"); d.Status != 429 || d.Reason != Limited || d.RetryAfter != 10 {
		t.Fatalf("%+v", d)
	}
	if ip = "192.0.2.2"; !ask("GET").Allowed {
		t.Error("another address is refused")
	}
	ip = "192.0.2.1"
	if at = at.Add(preflightRate.Window); !ask("GET").Allowed {
		t.Error("the window has passed")
	}
}

func TestStrippedPreflightHasOnlyWhatCORSNeeds(t *testing.T) {
	r := request("OPTIONS", "/articles/7?act=del&aid=7", "Origin", reader, "Access-Control-Request-Method", "GET",
		"Access-Control-Request-Headers", "authorization", "Cookie", "a=1", "Authorization", "x", "Proxy-Authorization", "x",
		"X-Api-Key", "x", "X-Http-Method-Override", "DELETE", "Referer", "x", "User-Agent", "Test")
	r.Header["x-api-key"] = []string{"x"}
	r.Body, r.ContentLength, r.TransferEncoding, r.Trailer = http.NoBody, 7, []string{"chunked"}, http.Header{"X": nil}
	StripPreflight(r)
	var names []string
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "Access-Control-Request-Headers Access-Control-Request-Method Origin User-Agent" {
		t.Error(got)
	}
	if r.URL.String() != "/articles/7" || r.RequestURI != "/articles/7" || r.ContentLength != 0 || r.TransferEncoding != nil || r.Trailer != nil {
		t.Errorf("%+v", r)
	}
	for name := range preflightFields {
		if http.CanonicalHeaderKey(name) != name {
			t.Errorf("%s is never met", name)
		}
	}
}
