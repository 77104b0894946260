package authserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/quickest"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestValidAuthorizationRequestGetsACode(t *testing.T) { // A01, A28, U01
	g := newBrowserRig(t)
	b := g.browser()
	consent := b.consentPage(appRequest().with("extra", "foobar"))
	code := g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	a := g.want(g.token(redeemApp(code)), 200, "")
	if a.tokens.Scope != "read" || !g.alive(a.tokens.Access) {
		t.Errorf("%s", a.body)
	}
	// Signed in and allowed: no page at all.
	if again := g.issued(b.get(authorizeURL(appRequest())), http.StatusFound); again == code {
		t.Error("two requests have one code")
	}
}

func TestPostedAuthorizeRedirectsToTheSameGet(t *testing.T) { // A02
	g := newBrowserRig(t)
	b := g.signedIn()
	p := b.do("POST", tokenIssuer+"/authorize", webRequest().with("state", "a b&c=d%26+").encode(), "Origin", "https://web.example", "Sec-Fetch-Site", "cross-site")
	to := p.header.Get("Location")
	if p.status != http.StatusSeeOther || !strings.HasPrefix(to, "/auth/authorize?") {
		t.Fatalf("%d %v", p.status, p.header)
	}
	if q := g.back(b.get("https://id.example"+to), http.StatusFound); q.Get("state") != "a b&c=d%26+" || !q.Has("code") {
		t.Errorf("%v", q)
	}
	twice := b.do("POST", tokenIssuer+"/authorize", webRequest().encode()+"&scope=read")
	g.refused(b.get("https://id.example"+twice.header.Get("Location")), http.StatusFound, "invalid_request")
	g.isError(b.do("POST", tokenIssuer+"/authorize", "{}", "Content-Type", "application/json"), http.StatusUnsupportedMediaType)
	g.isError(b.do("POST", tokenIssuer+"/authorize", "state="+strings.Repeat("a", 64<<10)), http.StatusRequestEntityTooLarge)
	g.isError(b.do("POST", tokenIssuer+"/authorize", "state="+strings.Repeat("a", 20<<10)), http.StatusRequestEntityTooLarge)
}

func TestRegisteredQueryIsKept(t *testing.T) { // A03
	g := newBrowserRig(t)
	b := g.signedIn()
	for uri, prefix := range map[string]string{
		"https://own.example/cb?dummy1=lorem&dummy2=ipsum": "https://own.example/cb?dummy1=lorem&dummy2=ipsum&code=",
		"https://own.example/q?":                           "https://own.example/q?code=",
	} {
		p := b.get(authorizeURL(params{"client_id": "trusted", "redirect_uri": uri, "response_type": "code", "scope": "read", "state": "S"}))
		g.issued(p, http.StatusFound)
		if !strings.HasPrefix(p.header.Get("Location"), prefix) {
			t.Error(p.header.Get("Location"))
		}
	}
}

// sentAddress is where an error page shows the address that was sent, as text.
var sentAddress = regexp.MustCompile(`<code class="sent" translate="no"><bdi>[^<>"]*</bdi></code>`)

func TestUnredirectableErrorsShowAPage(t *testing.T) { // A04-A09, A12, A13
	g := newBrowserRig(t)
	b := g.signedIn()
	before := g.store.Len()
	valid := webRequest()
	queries := map[string]string{
		"client_id missing":       valid.with("client_id", "").encode(),
		"client_id unknown":       valid.with("client_id", "nobody").encode(),
		"client_id is HTML":       valid.with("client_id", `"><script>alert(1)</script>`).encode(),
		"client_id is long":       valid.with("client_id", strings.Repeat("a", 8<<10)).encode(),
		"client_id twice":         valid.encode() + "&client_id=web",
		"client_id twice, other":  valid.encode() + "&client_id=app",
		"redirect_uri omitted":    valid.with("redirect_uri", "").encode(),
		"redirect_uri empty":      valid.with("redirect_uri", "").encode() + "&redirect_uri=",
		"redirect_uri twice":      valid.encode() + "&redirect_uri=" + url.QueryEscape(webRedirect),
		"redirect_uri and evil":   valid.encode() + "&redirect_uri=https%3A%2F%2Fevil.example",
		"of another client":       valid.with("redirect_uri", appRedirect).encode(),
		"a bad escape":            valid.encode() + "&x=%zz",
		"half an escape":          valid.encode() + "&x=%4",
		"NUL":                     valid.encode() + "&x=%00",
		"NUL in a name":           valid.encode() + "&x%00=1",
		"not UTF-8":               valid.encode() + "&x=%ff",
		"101 parameters":          valid.encode() + strings.Repeat("&x=1", 101),
		"more than 16 KiB":        valid.encode() + "&x=" + strings.Repeat("a", 16<<10),
		"20,000 scopes":           valid.with("scope", strings.Repeat("a ", 20_000)).encode(), // A24
		"nothing":                 "",
		"an error page parameter": "error=%3Cscript%3Ealert(1)%3C/script%3E&error_hint=x",
	}
	for _, end := range []string{"123", "/", "%2f", "/.", "/../cb", "/..;/x", "\x00", "\r\n", "?x=1", "#f", "%23f", "?", "#", "\t", " "} {
		queries[fmt.Sprintf("redirect_uri + %q", end)] = valid.with("redirect_uri", webRedirect+end).encode()
	}
	for _, uri := range []string{
		"https://web.example/Cb", "https://web.example.evil.com/cb", "https://evilweb.example/cb", "https://web.example./cb",
		"https://web.example:443/cb", "HTTPS://WEB.EXAMPLE/cb", "http://web.example/cb", "https://w\u0435b.example/cb",
		"https://user@web.example/cb", "https://web.example@evil.com/cb", `https://evil.com\@web.example/cb`,
		"javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "//evil.com", `/\evil.com`, "https:evil.com",
		"https://web.example/\tcb", "https://web.example/\vcb", "https://web.example/cb\nx",
	} {
		queries[fmt.Sprintf("redirect_uri %q", uri)] = valid.with("redirect_uri", uri).encode()
	}
	for name, query := range queries {
		var p page
		const most = 50 * time.Millisecond
		if took := quickest.Of(3, most, func() { p = b.get(tokenIssuer + "/authorize?" + query) }); took > most {
			t.Errorf("%s: took %v", name, took)
		}
		want := http.StatusBadRequest
		if len(query) > 16<<10 {
			want = http.StatusRequestURITooLong
		}
		if p.status != want || p.header.Get("Location") != "" || strings.Contains(p.body, "<script") || strings.Contains(sentAddress.ReplaceAllString(p.body, ""), "evil") {
			t.Errorf("%s: %d %v %s", name, p.status, p.header, p.body)
			continue
		}
		g.isError(p, want)
	}
	if g.store.Len() != before {
		t.Error("something was stored")
	}
}

func TestMissingAndUnknownClientLookAlike(t *testing.T) { // A13
	g := newBrowserRig(t)
	detail := strings.NewReplacer("client_id is missing", "", "client_id is unknown", "")
	missing := g.browser().get(authorizeURL(webRequest().with("client_id", "")))
	unknown := g.browser().get(authorizeURL(webRequest().with("client_id", "nobody")))
	if detail.Replace(missing.body) != detail.Replace(unknown.body) {
		t.Errorf("%s\n%s", missing.body, unknown.body)
	}
}

func TestOtherAuthorizeErrorsAreRedirected(t *testing.T) { // A14, A15, A18-A21, A23, A26, A29, A37
	web, app := webRequest(), appRequest()
	challenge := oauth.Challenge(verifier)
	cases := []struct {
		name  string
		query string
		code  string
	}{
		{"response_type missing", web.with("response_type", "").encode(), "invalid_request"},
		{"response_type foo", web.with("response_type", "foo").encode(), "unsupported_response_type"},
		{"response_type token", web.with("response_type", "token").encode(), "unsupported_response_type"},
		{"response_type code token", web.with("response_type", "code token").encode(), "unsupported_response_type"},
		{"response_type code id_token", web.with("response_type", "code id_token").encode(), "unsupported_response_type"},
		{"response_type id_token", web.with("response_type", "id_token").encode(), "unsupported_response_type"},
		{"response_type twice", web.encode() + "&response_type=code", "invalid_request"},
		{"scope twice", web.encode() + "&scope=read", "invalid_request"},
		{"nonce twice", web.encode() + "&nonce=1&nonce=2", "invalid_request"},
		{"response_mode fragment", web.with("response_mode", "fragment").encode(), "invalid_request"},
		{"response_mode form_post", web.with("response_mode", "form_post").encode(), "invalid_request"},
		{"response_mode query.jwt", web.with("response_mode", "query.jwt").encode(), "invalid_request"},
		{"public without PKCE", app.with("code_challenge", "").with("code_challenge_method", "").encode(), "invalid_request"},
		{"method without challenge", web.with("code_challenge_method", "S256").encode(), "invalid_request"},
		{"plain", app.with("code_challenge_method", "plain").encode(), "invalid_request"},
		{"method omitted", app.with("code_challenge_method", "").encode(), "invalid_request"},
		{"s256", app.with("code_challenge_method", "s256").encode(), "invalid_request"},
		{"S512", app.with("code_challenge_method", "S512").encode(), "invalid_request"},
		{"challenge too short", app.with("code_challenge", challenge[:42]).encode(), "invalid_request"},
		{"challenge padded", app.with("code_challenge", challenge+"=").encode(), "invalid_request"},
		{"malformed challenge of a confidential client", web.with("code_challenge", "x").with("code_challenge_method", "S256").encode(), "invalid_request"},
		{"scope unknown", web.with("scope", "read admin").encode(), "invalid_scope"},
		{"scope of another case", web.with("scope", "Read").encode(), "invalid_scope"},
		{"scope with a quote", web.with("scope", `re"ad`).encode(), "invalid_scope"},
		{"scope with a backslash", web.with("scope", `re\ad`).encode(), "invalid_scope"},
		{"scope with a control character", web.with("scope", "read\x01").encode(), "invalid_scope"},
		{"no scope and no default", app.with("scope", "").encode(), "invalid_scope"},
		{"8,000 scopes", web.with("scope", strings.Repeat("a ", 8000)).encode(), "invalid_scope"},
		{"request", web.with("request", "eyJhbGciOiJub25lIn0.e30.").encode(), "request_not_supported"},
		{"request_uri", web.with("request_uri", "https://canary.invalid/").encode(), "request_uri_not_supported"},
		{"registration", web.with("registration", "{}").encode(), "registration_not_supported"},
		{"nonce too long", web.with("nonce", strings.Repeat("n", 4097)).encode(), "invalid_request"},
		{"prompt none and login", web.with("prompt", "none login").encode(), "invalid_request"},
		{"max_age no number", web.with("max_age", "soon").encode(), "invalid_request"},
		{"max_age negative", web.with("max_age", "-1").encode(), "invalid_request"},
		{"nobody signed in with prompt none", web.with("prompt", "none").encode(), "login_required"},
	}
	g := newBrowserRig(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, method := range []string{"GET", "HEAD"} {
				p := g.browser().do(method, tokenIssuer+"/authorize?"+c.query, "")
				if method == "HEAD" && c.code == "login_required" {
					continue // a HEAD does not get as far as sessions
				}
				q := g.refused(p, http.StatusFound, c.code)
				if q.Get("state") != "S" || q.Get("error_description") == "" || strings.ContainsAny(q.Get("error_description"), "\"\\\n\x01") {
					t.Errorf("%v", q)
				}
			}
		})
	}
	if g.store.Len() > 1 { // the key ring
		t.Error("something was stored")
	}
}

func TestClientWithoutTheGrantIsUnauthorized(t *testing.T) {
	g := newBrowserRig(t)
	g.clients.change("web", func(c *oauth.Client) { c.Grants = []oauth.GrantType{oauth.ClientCredentials} })
	g.refused(g.browser().get(authorizeURL(webRequest())), http.StatusFound, "unauthorized_client")
}

func TestPKCEPolicyForConfidentialClients(t *testing.T) { // A20
	g := newBrowserRig(t, func(c *authserver.Config) { c.PKCERequired = true })
	q := g.refused(g.browser().get(authorizeURL(webRequest())), http.StatusFound, "invalid_request")
	if !strings.Contains(q.Get("error_description"), "PKCE") {
		t.Error(q)
	}
	g.isLogin(g.browser().get(authorizeURL(webRequest().with("code_challenge", oauth.Challenge(verifier)).with("code_challenge_method", "S256"))))
}

func TestStateIsReturnedExactly(t *testing.T) { // A26, A27
	g := newBrowserRig(t)
	b := g.signedIn()
	for _, state := range []string{
		strings.Repeat("s", 128), strings.Repeat("s", 1000), strings.Repeat("s", 4096), "a b&c=d%26+B<\">\u00e9", "%", "+", " ", "\u2028\u65e5",
		"x\r\nSet-Cookie:x=1", "a#b?c", "a;b", "\x01\x7f",
	} {
		p := b.get(authorizeURL(webRequest().with("state", state)))
		if q := g.back(p, http.StatusFound); q.Get("state") != state || !q.Has("code") {
			t.Errorf("%q came back as %q", state, q.Get("state"))
		}
		if strings.ContainsAny(p.header.Get("Location"), "\r\n \x01") || p.header.Get("Set-Cookie") != "" {
			t.Errorf("%q: %v", state, p.header)
		}
		// The same through the pages.
		fresh := g.browser()
		p = fresh.submit(fresh.consentPage(appRequest().with("state", state)), "decision", "deny")
		if q := g.refused(p, http.StatusSeeOther, "access_denied"); q.Get("state") != state {
			t.Errorf("%q came back as %q", state, q.Get("state"))
		}
	}
	if q := g.refused(b.get(authorizeURL(webRequest().with("state", strings.Repeat("s", 4097)))), http.StatusFound, "invalid_request"); q.Has("code") {
		t.Error(q)
	}
	twice := g.refused(b.get(authorizeURL(webRequest())+"&state=T"), http.StatusFound, "invalid_request")
	if twice.Has("state") {
		t.Error("one of two states came back")
	}
}

func TestMaximumSizeRequestSurvivesThePages(t *testing.T) { // A26
	g := newBrowserRig(t)
	b := g.browser()
	big := strings.Repeat("<", 4096)
	q := webRequest().with("state", big).with("nonce", big)
	if p := b.get(tokenIssuer + "/authorize?" + strings.ReplaceAll(q.encode(), "%3C", "<")); p.status != http.StatusOK {
		t.Fatal(p.status, p.body)
	} else if back := g.back(b.submit(b.signIn(p, "ann", annsPassword), "decision", "allow"), http.StatusSeeOther); back.Get("state") != big || !back.Has("code") {
		t.Error("it got lost")
	}
}

func TestStateIsRequiredUnlessPKCEIsUsed(t *testing.T) { // A26
	for _, q := range []string{webRequest().with("state", "").encode(), webRequest().with("state", "").encode() + "&state="} {
		g := newBrowserRig(t)
		back := g.refused(g.browser().get(tokenIssuer+"/authorize?"+q), http.StatusFound, "invalid_request")
		if back.Has("state") || !strings.Contains(back.Get("error_description"), "require_state") {
			t.Errorf("%v", back)
		}
	}
	g := newBrowserRig(t, func(c *authserver.Config) { c.RequireState = oauth.StateUnlessPKCEOrNonce })
	b := g.browser()
	p := b.submit(b.consentPage(appRequest().with("state", "")), "decision", "allow")
	if q := g.back(p, http.StatusSeeOther); q.Has("state") || !q.Has("code") {
		t.Errorf("%v", q)
	}
	g.refused(g.browser().get(authorizeURL(webRequest().with("state", ""))), http.StatusFound, "invalid_request")
}

func TestNativeLoopbackPortIsAccepted(t *testing.T) { // A10
	g := newBrowserRig(t)
	native := appRequest().with("client_id", "native")
	b := g.browser()
	p := b.submit(b.consentPage(native.with("redirect_uri", "http://127.0.0.1:53682/cb")), "decision", "allow")
	if g.issued(p, http.StatusSeeOther); !strings.HasPrefix(p.header.Get("Location"), "http://127.0.0.1:53682/cb?") {
		t.Error(p.header.Get("Location"))
	}
	p = b.submit(b.get(authorizeURL(native.with("redirect_uri", "com.example.app:/cb"))), "decision", "allow")
	if !strings.HasPrefix(p.header.Get("Location"), "com.example.app:/cb?code=") {
		t.Error(p.header.Get("Location"))
	}
	for _, uri := range []string{"http://[::1]:9/cb", "http://127.0.0.1:9/cb?x=1", "http://127.0.0.1.evil.com/cb", "http://localhost:9/cb", "http://127.0.0.1:9/CB"} {
		g.isError(b.get(authorizeURL(native.with("redirect_uri", uri))), http.StatusBadRequest)
	}
}

func TestAuthorizeMethodsAndOrigins(t *testing.T) { // A35, A36
	g := newBrowserRig(t)
	b := g.signedIn()
	before := g.store.Len()
	p := b.do("HEAD", authorizeURL(webRequest()), "")
	if p.status != http.StatusOK || p.header.Get("Location") != "" || len(p.set) != 0 || g.store.Len() != before {
		t.Errorf("HEAD: %d %v", p.status, p.header)
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} {
		p := b.do(method, authorizeURL(webRequest()), "", "Origin", "https://app.example", "Access-Control-Request-Method", "GET")
		if p.status != http.StatusMethodNotAllowed || !strings.Contains(p.header.Get("Allow"), "GET") || !strings.Contains(p.header.Get("Allow"), "POST") {
			t.Errorf("%s: %d %v", method, p.status, p.header)
		}
		g.isPage(p)
	}
	if p := b.get(authorizeURL(webRequest()), "Origin", "https://app.example"); p.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error(p.header)
	}
}

func TestHostAndForwardedHeadersAreNotUsedForURLs(t *testing.T) { // A38, M03
	g := newBrowserRig(t)
	evil := []string{
		"X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "evil", "X-Forwarded-Prefix", "/evil", "X-Forwarded-Port", "1",
		"Forwarded", "host=evil.example;proto=evil", "X-Original-URL", "/evil", "Referer", "javascript:evil()", "User-Agent", "evil<script>",
	}
	b := g.browser()
	login := b.get("https://evil.example/auth/authorize?"+webRequest().encode(), evil...)
	g.isLogin(login)
	if strings.Contains(login.body, "evil") || !strings.Contains(login.body, `action="/auth/login"`) {
		t.Error(login.body)
	}
	back := g.refused(b.get("https://evil.example/auth/authorize?"+webRequest().with("scope", "x").encode(), evil...), http.StatusFound, "invalid_scope")
	if strings.Contains(back.Encode(), "evil") {
		t.Error(back)
	}
}

func TestPromptAndMaxAge(t *testing.T) { // A30, A31
	g := newBrowserRig(t)
	b := g.signedIn()
	web := webRequest()
	g.issued(b.get(authorizeURL(web.with("prompt", "none"))), http.StatusFound)
	g.refused(b.get(authorizeURL(web.with("prompt", "none").with("scope", "read write"))), http.StatusFound, "consent_required")
	g.isConsent(b.get(authorizeURL(web.with("prompt", "consent"))))
	g.issued(b.get(authorizeURL(web.with("max_age", "10000"))), http.StatusFound)
	g.issued(b.get(authorizeURL(web.with("max_age", "4000000000"))), http.StatusFound)
	g.pass(2 * time.Second)
	for _, p := range []params{web.with("prompt", "login"), web.with("max_age", "1"), web.with("max_age", "0")} {
		login := b.get(authorizeURL(p))
		g.isLogin(login)
		g.issued(b.signIn(login, "ann", annsPassword), http.StatusSeeOther)
		g.pass(2 * time.Second)
	}
	g.refused(b.get(authorizeURL(web.with("prompt", "none").with("max_age", "1"))), http.StatusFound, "login_required")
}

func TestClientLookupFaultShowsAnErrorPage(t *testing.T) { // T24
	g := newBrowserRig(t)
	g.clients.mu.Lock()
	g.clients.fault = errors.New("away")
	g.clients.mu.Unlock()
	g.isError(g.browser().get(authorizeURL(webRequest())), http.StatusServiceUnavailable)
}

func TestAuthorizeStoresNothingForStrangers(t *testing.T) { // E11, the short form
	g := newBrowserRig(t)
	before := g.store.Len()
	for range 200 {
		g.isLogin(g.browser().get(authorizeURL(webRequest())))
	}
	if g.store.Len() != before {
		t.Errorf("%d records", g.store.Len()-before)
	}
}
