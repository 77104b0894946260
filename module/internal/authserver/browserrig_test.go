package authserver_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const annsPassword = "x"

// tab is a browser as far as cookies go; several may run in parallel on one rig.
type tab struct {
	g       *tokenRig
	cookies map[string]string
}

func (g *tokenRig) browser() *tab { return &tab{g, map[string]string{}} }

// browserID is the value of the cookie that ties the browser's tabs together.
func (b *tab) browserID() string { return cookieOf(b.cookies, browserCookie) }

// cookieOf is the value of a cookie, whose name may have a random end.
func cookieOf(cookies map[string]string, name string) string {
	for n, value := range cookies {
		if n == name || name == browserCookie && strings.HasPrefix(n, name+"-") {
			return value
		}
	}
	return ""
}

// page is what a browser got.
type page struct {
	status int
	header http.Header
	body   string
	set    []*http.Cookie
}

func (b *tab) do(method, target, body string, header ...string) page {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://id.example")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.g.server.ServeHTTP(w, r)
	p := page{status: w.Code, header: w.Header(), body: w.Body.String(), set: w.Result().Cookies()}
	for _, c := range p.set {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return p
}

func (b *tab) get(target string, header ...string) page {
	return b.do(http.MethodGet, target, "", header...)
}

var (
	formTag   = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	hiddenTag = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// form is what the page's form would post, with these names and values besides.
func (p page) form(more ...string) url.Values {
	v := url.Values{}
	for _, m := range hiddenTag.FindAllStringSubmatch(p.body, -1) {
		v.Set(m[1], html.UnescapeString(m[2]))
	}
	for i := 0; i+1 < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return v
}

// submit posts the page's form where the page says.
func (b *tab) submit(p page, more ...string) page {
	b.g.t.Helper()
	m := formTag.FindStringSubmatch(p.body)
	if m == nil {
		b.g.t.Fatalf("no form in %d %s", p.status, p.body)
	}
	return b.do(http.MethodPost, "https://id.example"+m[1], p.form(more...).Encode())
}

// signIn posts the login form of p.
func (b *tab) signIn(p page, username, password string) page {
	b.g.t.Helper()
	return b.submit(p, "username", username, "password", password)
}

func webRequest() params {
	return params{"client_id": "web", "redirect_uri": webRedirect, "response_type": "code", "scope": "read", "state": "S"}
}

func appRequest() params {
	return params{
		"client_id": "app", "redirect_uri": appRedirect, "response_type": "code", "scope": "read", "state": "S",
		"code_challenge": oauth.Challenge(verifier), "code_challenge_method": "S256",
	}
}

func authorizeURL(p params) string { return tokenIssuer + "/authorize?" + p.encode() }

// consentPage goes as far as the consent page of a request.
func (b *tab) consentPage(p params) page {
	b.g.t.Helper()
	login := b.get(authorizeURL(p))
	b.g.isLogin(login)
	consent := b.signIn(login, "ann", annsPassword)
	b.g.isConsent(consent)
	return consent
}

// signedIn is a browser in which ann has signed in and allowed web to read.
func (g *tokenRig) signedIn() *tab {
	g.t.Helper()
	b := g.browser()
	g.back(b.submit(b.consentPage(webRequest()), "decision", "allow"), http.StatusSeeOther)
	return b
}

func (g *tokenRig) isLogin(p page) {
	g.t.Helper()
	if p.status != http.StatusOK || !strings.Contains(p.body, `type="password"`) || strings.Contains(p.body, `role="alert"`) {
		g.t.Fatalf("no login page: %d %s", p.status, p.body)
	}
	g.isPage(p)
}

func (g *tokenRig) isConsent(p page) {
	g.t.Helper()
	if p.status != http.StatusOK || !strings.Contains(p.body, `name="decision" value="allow"`) {
		g.t.Fatalf("no consent page: %d %s", p.status, p.body)
	}
	g.isPage(p)
}

// timesTag is the one script of the account page.
const timesTag = `<script src="/auth/connect/times.js" defer></script>`

// isPage checks what holds for every page: nothing cached, framed or scripted.
func (g *tokenRig) isPage(p page) {
	g.t.Helper()
	h := p.header
	if h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "same-origin" ||
		!strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || h.Get("Location") != "" ||
		!strings.HasPrefix(h.Get("Content-Type"), "text/html") || h.Get("Access-Control-Allow-Origin") != "" || strings.Contains(strings.Replace(p.body, timesTag, "", 1), "<script") {
		g.t.Fatalf("headers of a page: %v", h)
	}
}

// isError checks an error page.
func (g *tokenRig) isError(p page, status int) {
	g.t.Helper()
	if p.status != status || strings.Contains(p.body, "<form method") {
		g.t.Fatalf("got %d, want the error page %d: %v %s", p.status, status, p.header, p.body)
	}
	g.isPage(p)
	if (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) && p.header.Get("Retry-After") == "" {
		g.t.Fatal("no Retry-After")
	}
}

// back checks a redirect to the client and returns its parameters.
func (g *tokenRig) back(p page, status int) url.Values {
	g.t.Helper()
	u, err := url.Parse(p.header.Get("Location"))
	if err != nil || p.status != status || u.Host == "" {
		g.t.Fatalf("no redirect %d: %d %v %s", status, p.status, p.header, p.body)
	}
	if p.header.Get("Referrer-Policy") != "no-referrer" || p.header.Get("Cache-Control") != "no-store" || p.body != "" || len(p.header["Location"]) != 1 {
		g.t.Fatalf("the redirect: %v %q", p.header, p.body)
	}
	q := u.Query()
	if q.Get("iss") != tokenIssuer || len(q["iss"]) != 1 || u.Fragment != "" {
		g.t.Fatalf("iss in %v", q)
	}
	return q
}

// refused checks an error redirect to the client.
func (g *tokenRig) refused(p page, status int, code string) url.Values {
	g.t.Helper()
	q := g.back(p, status)
	if q.Get("error") != code || q.Has("code") {
		g.t.Fatalf("got %v, want error %s", q, code)
	}
	return q
}

// issued checks a redirect with a code.
func (g *tokenRig) issued(p page, status int) string {
	g.t.Helper()
	q := g.back(p, status)
	if len(q.Get("code")) < 43 || q.Has("error") || q.Get("state") != "S" {
		g.t.Fatalf("no code in %v", q)
	}
	return q.Get("code")
}

func newBrowserRig(t *testing.T, change ...func(*authserver.Config)) *tokenRig {
	t.Helper()
	g := newTokenRig(t, change...)
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	g.clients.all["trusted"] = &oauth.Client{
		ID: "trusted", Name: "Our <own> app", SecretHashes: []string{"0"}, Trusted: true, Grants: oauth.GrantTypes,
		RedirectURIs: []string{"https://own.example/cb?dummy1=lorem&dummy2=ipsum", "https://own.example/q?"}, Scopes: []string{"read"},
	}
	g.clients.all["native"] = &oauth.Client{
		ID: "native", Public: true, Native: true, Grants: oauth.GrantTypes, Scopes: []string{"read"},
		RedirectURIs: []string{"http://127.0.0.1/cb", "com.example.app:/cb"},
	}
	return g
}
