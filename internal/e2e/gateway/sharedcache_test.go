package gateway

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

// A shared cache in front of the gateway must not give a guarded response to somebody without a token, and nginx 1.22
// heeds only the last line of Vary.
func TestStorableResponsesOfGuardedRoutesVaryByToken(t *testing.T) {
	for name, guard := range map[string]string{"": "", " with cors": "cors " + app} {
		t.Run("behind a guard"+name, func(t *testing.T) {
			g, up := start(t, "$GUARD", guard, "\toauth_guard {", "\tencode {\n\t\tminimum_length 9\n\t}\n\toauth_guard {")
			token, _ := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).JSON(t)["access_token"].(string)
			for _, c := range []struct {
				path, token, control string
				want                 bool
			}{
				{"/read", token, "public, max-age=60", true},
				{"/read", token, "max-age=60", true},
				{"/read", token, "private, max-age=60", true}, // a deferred header may replace it
				{"/read", token, "", true},
				{"/public", "", "public, max-age=60", false},
			} {
				up.Answer(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/plain")
					if c.control != "" {
						w.Header().Set("Cache-Control", c.control)
					}
					_, _ = io.WriteString(w, "long enough for a site to encode")
				})
				p := g.Call(t, http.MethodGet, c.path, c.token)
				lines, stored := p.Header["Vary"], strings.Contains(c.control, "max-age") && !strings.Contains(c.control, "private")
				if got := httpguts.HeaderValuesContainsToken(lines, "Authorization"); p.Status != http.StatusOK || got != c.want || stored && len(lines) != 1 {
					t.Errorf("%s, %s: %d, Vary %q", c.path, c.control, p.Status, lines)
				}
			}
		})
	}
}

// G41: in shadow mode the API learns who calls, so its answers depend on the token, too.
func TestStorableResponsesVaryByTokenInShadow(t *testing.T) {
	g, up := start(t, "$GUARD", "shadow")
	token, _ := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).JSON(t)["access_token"].(string)
	for _, c := range []struct {
		path, token string
		want        bool
	}{{"/read", token, true}, {"/read", "", true}, {"/read", "garbage", true}, {"/admin", token, true}, {"/public", "", false}} {
		up.Answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Vary", "Accept")
		})
		p := g.Call(t, http.MethodGet, c.path, c.token)
		lines := p.Header["Vary"]
		if got := httpguts.HeaderValuesContainsToken(lines, "Authorization"); p.Status != http.StatusOK || got != c.want || len(lines) != 1 {
			t.Errorf("G41 %s with %.9q: %d, Vary %q", c.path, c.token, p.Status, lines)
		}
	}
}

// G42: a page of `handle_errors` must not take the place of the resource in a shared cache, nor one for a known caller
// reach others. The proxied page allows caches to store it.
func TestErrorPagesOfGuardedRoutesAreNotStored(t *testing.T) {
	const pages = `	handle_errors {
		@set query set=1
		header @set Cache-Control max-age=60
		respond @set page 200
		rewrite * /error
		reverse_proxy $UPSTREAM
	}
	@fails path /read/fails
	error @fails 502
`
	guarded := strings.Replace(site, "\tapi_errors\n", pages, 1)
	g, up := startSite(t, guarded)
	token, _ := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).JSON(t)["access_token"].(string)
	for _, c := range []struct{ path, token string }{{"/read", ""}, {"/read", "garbage"}, {"/admin", token}, {"/read/fails", token}} {
		up.Answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "public, max-age=60")
			w.Header().Set("Vary", "Accept")
		})
		p := g.Call(t, http.MethodGet, c.path, c.token)
		if control := p.Header["Cache-Control"]; !httpguts.HeaderValuesContainsToken(control, "no-store") || !httpguts.HeaderValuesContainsToken(p.Header["Vary"], "Authorization") {
			t.Errorf("G42 %s with %.9q: %d %q, Vary %q", c.path, c.token, p.Status, control, p.Header["Vary"])
		}
		// A page whose lifetime the site chooses varies, in one line.
		p = g.Call(t, http.MethodGet, c.path+"?set=1", c.token)
		if vary := p.Header["Vary"]; p.Header.Get("Cache-Control") != "max-age=60" || len(vary) != 1 || !httpguts.HeaderValuesContainsToken(vary, "Authorization") {
			t.Errorf("G42 %s with %.9q, set: %d %q, Vary %q", c.path, c.token, p.Status, p.Header["Cache-Control"], vary)
		}
	}
}

// G44: a deferred header of the site lets caches store what the API did not, after the guard has seen the response.
func TestDeferredLifetimesVaryByToken(t *testing.T) {
	for _, header := range []string{`header ?Cache-Control "public, max-age=60"`, `header >Expires "Thu, 01 Dec 2033 16:00:00 GMT"`, "header {\n\t-Server\n\tCache-Control max-age=60\n\t}"} {
		g, up := start(t, "\toauth_guard {", "\t"+header+"\n\toauth_guard {")
		token, _ := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).JSON(t)["access_token"].(string)
		for _, c := range []struct {
			path, token, vary string
			status            int
		}{{"/read", token, "", 200}, {"/read", token, "Accept", 200}, {"/read", "", "", 401}, {"/read", "garbage", "", 401}, {"/admin", token, "", 403}} {
			up.Answer(func(w http.ResponseWriter, r *http.Request) {
				if c.vary != "" {
					w.Header().Set("Vary", c.vary)
				}
			})
			p := g.Call(t, http.MethodGet, c.path, c.token)
			if lines := p.Header["Vary"]; p.Status != c.status || len(lines) != 1 || !httpguts.HeaderValuesContainsToken(lines, "Authorization") {
				t.Errorf("G44 %s: %s with %.9q: %d, Vary %q", header, c.path, c.token, p.Status, lines)
			}
		}
	}
}

// G43: a matcher sees no responses, and the documented lines say that they depend on the token.
func TestDocumentedLinesVaryByTokenForMatchers(t *testing.T) {
	own, _, _ := strings.Cut(site, "http://$API")
	g, up := startSite(t, own+`http://$API {
	header ?Vary Authorization
	header {
		Vary ^[^*]+$ "$0, Authorization"
		defer
	}
	encode {
		minimum_length 9
	}
	@beta oauth_scope read
	rewrite @beta /beta
	reverse_proxy $UPSTREAM
}
`)
	for _, vary := range [][]string{nil, {"Accept"}, {"Accept", "Origin"}, {"*"}} {
		up.Answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header()["Vary"] = vary
			_, _ = io.WriteString(w, "long enough for a site to encode")
		})
		lines := g.Call(t, http.MethodGet, "/x", "").Header["Vary"]
		if len(lines) == 0 {
			t.Errorf("G43 %q: no Vary", vary)
		}
		for _, line := range lines { // nginx 1.22 heeds the last
			if line != "*" && !httpguts.HeaderValuesContainsToken([]string{line}, "Authorization") {
				t.Errorf("G43 %q: %q", vary, lines)
			}
		}
	}
}
