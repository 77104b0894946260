package gateway

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/quickest"
)

func TestValidAuthorizationRequests(t *testing.T) {
	g, _ := start(t)
	b := signedIn(t, g)
	t.Run("A01 a GET with session and consent", func(t *testing.T) {
		seen := map[string]bool{}
		for range 20 {
			p := b.Get(authorizeURL(g, "web"))
			c := wantCode(t, g, p, callback)
			raw, err := base64.RawURLEncoding.DecodeString(c)
			if err != nil || len(raw) < 16 || seen[c] {
				t.Fatalf("the code %q: %v", c, err)
			}
			seen[c] = true
			if want := callback + "?code=" + c + "&state=S&iss=" + url.QueryEscape(g.ID); p.Status != http.StatusFound || p.Header.Get("Location") != want {
				t.Fatalf("%d %s, want %s", p.Status, p.Header.Get("Location"), want)
			}
		}
	})
	t.Run("A02 a form, which another site may send", func(t *testing.T) {
		address := authorizeURL(g, "web", "extra", "foobar")
		endpoint, query, _ := strings.Cut(address, "?")
		p := send(t, b, http.MethodPost, endpoint, query, "Origin", "https://client.example", "Sec-Fetch-Site", "cross-site")
		if p.Status != http.StatusSeeOther || p.Body != "" || !strings.HasPrefix(p.Header.Get("Location"), "/authorize?") {
			t.Fatalf("%d %v %s", p.Status, p.Header, p.Body)
		}
		wantCode(t, g, b.Get(g.ID+p.Header.Get("Location")), callback)
	})
	t.Run("A03 a registered query stays", func(t *testing.T) {
		registered := callback[:len(callback)-2] + "q?dummy1=lorem&dummy2=ipsum"
		p := b.Get(authorizeURL(g, "web", "redirect_uri", registered))
		wantCode(t, g, p, registered)
		wantError(t, g, b.Get(authorizeURL(g, "web", "redirect_uri", registered, "scope", "admin")), registered, "invalid_scope")
	})
	t.Run("A24 a scope of many repetitions is one", func(t *testing.T) {
		wantCode(t, g, b.Get(authorizeURL(g, "web", "scope", strings.Repeat("read ", 800))), callback)
	})
	t.Run("A26 state comes back byte for byte", func(t *testing.T) {
		for _, state := range []string{
			strings.Repeat("s", 128), strings.Repeat("s", 1000), strings.Repeat("é", 2048), `a b&c=d%26+%2B<">é`, "#?/\\;:'\t",
			"x\r\nSet-Cookie: x=1\r\n\r\n<script>", // A27
		} {
			p := b.Get(authorizeURL(g, "web", "state", state))
			wantCode(t, g, p, callback)
			if got := back(t, g, p, callback).Get("state"); got != state {
				t.Errorf("state %q came back as %q", state, got)
			}
			if len(p.Header.Values("Set-Cookie")) != 0 {
				t.Errorf("A27 injected: %v", p.Header)
			}
		}
	})
	t.Run("A28 an unknown parameter", func(t *testing.T) {
		wantCode(t, g, b.Get(authorizeURL(g, "web", "extra", "foobar")), callback)
	})
	t.Run("A31 max_age that is not over", func(t *testing.T) {
		wantCode(t, g, b.Get(authorizeURL(g, "web", "max_age", "10000")), callback)
		wantCode(t, g, b.Get(authorizeURL(g, "web", "prompt", "none")), callback)
	})
	t.Run("A45 a code is in no page", func(t *testing.T) {
		p := b.Get(authorizeURL(g, "web"))
		if p.Body != "" || p.Header.Get("Cache-Control") != "no-store" || p.Header.Get("Content-Type") != "" {
			t.Errorf("%v %q", p.Header, p.Body)
		}
	})
}

func TestInvalidAuthorizationRequestsAreRedirected(t *testing.T) {
	g, _ := start(t)
	b := signedIn(t, g)
	for _, c := range []struct {
		name, client string
		changes      []string
		want         string
	}{
		{"A14 response_type missing", "web", []string{"response_type", "-"}, "invalid_request"},
		{"A15 response_type foo", "web", []string{"response_type", "foo"}, "unsupported_response_type"},
		{"A15 response_type token", "web", []string{"response_type", "token"}, "unsupported_response_type"},
		{"A15 response_type code token", "web", []string{"response_type", "code token"}, "unsupported_response_type"},
		{"A15 response_type code id_token", "web", []string{"response_type", "code id_token"}, "unsupported_response_type"},
		{"A15 response_type id_token", "web", []string{"response_type", "id_token"}, "unsupported_response_type"},
		{"A15 response_type none", "web", []string{"response_type", "none"}, "unsupported_response_type"},
		{"A15 response_type CODE", "web", []string{"response_type", "CODE"}, "unsupported_response_type"},
		{"A17 implicit with restart data", "web", []string{"response_type", "token", "session_code", "x", "client_data", "eyJydCI6InRva2VuIn0"}, "unsupported_response_type"},
		{"A18 response_mode fragment", "web", []string{"response_mode", "fragment"}, "invalid_request"},
		{"A18 response_mode form_post", "web", []string{"response_mode", "form_post"}, "invalid_request"},
		{"A18 response_mode query.jwt", "web", []string{"response_mode", "query.jwt"}, "invalid_request"},
		{"A19 a public client without challenge", "spa", []string{"code_challenge", "-", "code_challenge_method", "-"}, "invalid_request"},
		{"A21 method plain", "web", []string{"code_challenge_method", "plain"}, "invalid_request"},
		{"A21 method omitted", "web", []string{"code_challenge_method", "-"}, "invalid_request"},
		{"A21 method s256", "web", []string{"code_challenge_method", "s256"}, "invalid_request"},
		{"A21 method S512", "web", []string{"code_challenge_method", "S512"}, "invalid_request"},
		{"A21 a method alone", "web", []string{"code_challenge", "-"}, "invalid_request"},
		{"A21 challenge too short", "web", []string{"code_challenge", strings.Repeat("a", 42)}, "invalid_request"},
		{"A21 challenge with padding", "web", []string{"code_challenge", harness.Challenge("x") + "="}, "invalid_request"},
		{"A23 scope unknown", "web", []string{"scope", "read nonsense"}, "invalid_scope"},
		{"A23 scope not granted", "web", []string{"scope", "admin"}, "invalid_scope"},
		{"A23 scope with a quote", "web", []string{"scope", `re"ad`}, "invalid_scope"},
		{"A23 scope with a backslash", "web", []string{"scope", `re\ad`}, "invalid_scope"},
		{"A23 scope with a control", "web", []string{"scope", "read\r\nwrite"}, "invalid_scope"},
		{"A23 scope in another case", "web", []string{"scope", "READ"}, "invalid_scope"},
		{"A24 too many scopes", "web", []string{"scope", manyScopes(4000)}, "invalid_scope"},
		{"A26 state empty", "web", []string{"state", ""}, "invalid_request"},
		{"A26 state absent", "web", []string{"state", "-"}, "invalid_request"},
		{"A30 none and login", "web", []string{"prompt", "none login"}, "invalid_request"},
		{"A31 max_age no number", "web", []string{"max_age", "soon"}, "invalid_request"},
		{"A31 max_age negative", "web", []string{"max_age", "-1"}, "invalid_request"},
		{"A30 prompt none without consent", "other", []string{"prompt", "none"}, "consent_required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			redirectURI := map[string]string{"web": callback, "spa": "https://spa.example/cb", "other": "https://other.example/cb"}[c.client]
			p := b.Get(authorizeURL(g, c.client, c.changes...))
			wantError(t, g, p, redirectURI, c.want)
			wantState := "S"
			if c.changes[0] == "state" {
				wantState = ""
			}
			if q := back(t, g, p, redirectURI); q.Get("state") != wantState || q.Has("state") != (wantState != "") || q.Has("access_token") {
				t.Errorf("%v", q)
			}
		})
	}
	t.Run("A30 prompt none without a session", func(t *testing.T) {
		stranger := harness.NewBrowser(t, g.ID)
		wantError(t, g, stranger.Get(authorizeURL(g, "web", "prompt", "none")), callback, "login_required")
	})
	t.Run("a repeated parameter", func(t *testing.T) {
		for _, name := range []string{"scope", "state", "code_challenge", "response_type", "nonce", "prompt", "extra"} {
			p := b.Get(authorizeURL(g, "web", name, "read") + "&" + name + "=x")
			wantError(t, g, p, callback, "invalid_request")
		}
		for _, name := range []string{"client_id", "redirect_uri"} {
			wantPage(t, b.Get(authorizeURL(g, "web")+"&"+name+"=x"), http.StatusBadRequest)
		}
	})
	t.Run("A20 pkce required of all, by choice", func(t *testing.T) {
		g.Load(t, strings.Replace(site, "gatehouse {", "gatehouse {\n\t\tpkce required", 1))
		p := b.Get(authorizeURL(g, "web", "code_challenge", "-", "code_challenge_method", "-"))
		wantError(t, g, p, callback, "invalid_request")
	})
	t.Run("A20 not required of confidential clients, by default", func(t *testing.T) {
		g.Load(t, site)
		wantCode(t, g, b.Get(authorizeURL(g, "web", "code_challenge", "-", "code_challenge_method", "-")), callback)
	})
}

func manyScopes(bytes int) string {
	var s strings.Builder
	for i := 0; s.Len() < bytes; i++ {
		s.WriteString(string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + " ")
	}
	return s.String()
}

// A24, A13: nothing that is merely large costs time.
func TestLargeAuthorizationRequestsAreRefusedQuickly(t *testing.T) {
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	for name, address := range map[string]string{
		"A24 20,000 scopes":   authorizeURL(g, "web", "scope", strings.Repeat("a ", 20_000)),
		"A24 16 KiB of query": authorizeURL(g, "web", "extra", strings.Repeat("a", 16<<10)),
		"A24 7,000 names":     authorizeURL(g, "web") + strings.Repeat("&a", 7000),
		"A13 8 KiB client_id": authorizeURL(g, strings.Repeat("c", 8<<10)),
	} {
		t.Run(name, func(t *testing.T) {
			const most = 50 * time.Millisecond * raceFactor
			if took := quickest.Of(3, most, func() {
				p := b.Get(address)
				if p.Status < 400 || p.Status > 499 {
					t.Fatalf("%d %s", p.Status, p.Header.Get("Location"))
				}
				wantInert(t, p)
			}); took > most {
				t.Errorf("took %v", took)
			}
		})
	}
}

// raceFactor allows for the race detector and a busy machine; what these limits are to
// catch takes seconds.
const raceFactor = 5

func TestAuthorizationRequestFetchesNothing(t *testing.T) { // A29
	g, _ := start(t)
	b := signedIn(t, g)
	var hits atomic.Int64
	canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer canary.Close()
	for name, want := range map[string]string{
		"request": "request_not_supported", "request_uri": "request_uri_not_supported", "registration": "registration_not_supported",
	} {
		t.Run("A29 "+name, func(t *testing.T) {
			for _, value := range []string{canary.URL, "eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJodHRwczovL2V2aWwuZXhhbXBsZSJ9."} {
				wantError(t, g, b.Get(authorizeURL(g, "web", name, value)), callback, want)
			}
		})
	}
	b.Get(authorizeURL(g, "web", "logo_uri", canary.URL, "jwks_uri", canary.URL, "sector_identifier_uri", canary.URL))
	if hits.Load() != 0 {
		t.Errorf("%d requests came", hits.Load())
	}
}

func TestAuthorizationEndpointMethods(t *testing.T) {
	g, _ := start(t)
	b := signedIn(t, g)
	t.Run("A35 HEAD makes nothing", func(t *testing.T) {
		p := send(t, b, http.MethodHead, authorizeURL(g, "web"), "")
		if p.Status != http.StatusOK || p.Header.Get("Location") != "" || len(p.Header.Values("Set-Cookie")) != 0 {
			t.Errorf("%d %v", p.Status, p.Header)
		}
	})
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} {
		t.Run("A35 A36 "+method, func(t *testing.T) {
			p := send(t, b, method, authorizeURL(g, "web"), "", "Origin", "https://spa.example", "Access-Control-Request-Method", "GET")
			wantPage(t, p, http.StatusMethodNotAllowed)
			if allow := p.Header.Get("Allow"); !strings.Contains(allow, "GET") || !strings.Contains(allow, "POST") {
				t.Errorf("Allow: %s", allow)
			}
		})
	}
	t.Run("A36 no origin may read it", func(t *testing.T) {
		for _, origin := range []string{"https://spa.example", "https://evil.example", "null", g.ID} {
			for _, address := range []string{authorizeURL(g, "web"), g.ID + "/login", g.ID + "/logout", g.ID + "/consent"} {
				p := send(t, b, http.MethodGet, address, "", "Origin", origin)
				for name := range p.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s from %s: %s", address, origin, name)
					}
				}
			}
		}
	})
	t.Run("a post that is no form", func(t *testing.T) {
		wantPage(t, send(t, b, http.MethodPost, g.ID+"/authorize", "{}", "Content-Type", "application/json"), http.StatusUnsupportedMediaType)
		wantPage(t, send(t, b, http.MethodPost, g.ID+"/authorize", strings.Repeat("a", 64<<10+1)), http.StatusRequestEntityTooLarge)
	})
}

func TestForwardedHeadersHaveNoEffect(t *testing.T) { // A38
	g, _ := start(t)
	b := signedIn(t, g)
	spoofed := []string{
		"X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "evil_protocol", "X-Forwarded-Prefix", "/evil", "X-Forwarded-Port", "81",
		"X-Forwarded-Uri", "/evil", "X-Original-Url", "/evil", "X-Rewrite-Url", "/evil", "X-Forwarded-Server", "evil.example", "X-Host", "evil.example",
		"Forwarded", "for=1.2.3.4;host=evil.example;proto=https",
	}
	t.Run("A38 redirects", func(t *testing.T) {
		wantCode(t, g, send(t, b, http.MethodGet, authorizeURL(g, "web"), "", spoofed...), callback)
		p := send(t, b, http.MethodGet, g.ID+"/login", "", spoofed...)
		if p.Header.Get("Location") != "/account" {
			t.Errorf("%d %v", p.Status, p.Header)
		}
	})
	t.Run("A38 pages", func(t *testing.T) {
		stranger := harness.NewBrowser(t, g.ID)
		p := send(t, stranger, http.MethodGet, authorizeURL(g, "web"), "", spoofed...)
		wantPage(t, p, http.StatusOK)
		if action, _ := harness.Form(t, p); action != g.ID+"/login" || strings.Contains(p.Body, "evil") {
			t.Errorf("the form goes to %s: %s", action, p.Body)
		}
	})
}
