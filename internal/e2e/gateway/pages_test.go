package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// wantHeaders checks what every page carries (U02, U03).
func wantHeaders(t *testing.T, p harness.Page) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		if got := p.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%d %s: %s is %q, want %q", p.Status, p.URL.Path, name, got, want)
		}
	}
	policy := map[string]string{}
	for directive := range strings.SplitSeq(p.Header.Get("Content-Security-Policy"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
		policy[name] = value
	}
	for name, want := range map[string]string{"default-src": "'none'", "frame-ancestors": "'none'", "base-uri": "'none'"} {
		if policy[name] != want {
			t.Errorf("%s: CSP %s is %q, want %q", p.URL.Path, name, policy[name], want)
		}
	}
	// Chrome applies form-action to the redirect that answers a form.
	for _, name := range []string{"form-action", "script-src"} {
		if _, ok := policy[name]; ok {
			t.Errorf("CSP has %s", name)
		}
	}
	if strings.Contains(p.Header.Get("Content-Security-Policy"), "unsafe") || strings.Contains(p.Header.Get("Content-Security-Policy"), "*") {
		t.Errorf("CSP %s", p.Header.Get("Content-Security-Policy"))
	}
}

// everyPage is one of each page the server has.
func everyPage(t *testing.T, g *harness.Gateway) map[string]harness.Page {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	login := b.Get(authorizeURL(g, "other"))
	all := map[string]harness.Page{
		"sign-in":            login,
		"sign-in, no client": b.Get(g.ID + "/login"),
		"sign-in, Chinese":   b.Get(authorizeURL(g, "other", "ui_locales", "zh")),
		"sign-in, refused":   b.Submit(login, url.Values{"username": {"nobody"}, "password": {"x"}}),
		"400":                b.Get(g.ID + "/authorize"),
		"403":                b.Post(g.ID+"/login", url.Values{"token": {"x"}}),
		"404":                b.Get(g.ID + "/nothing"),
		"405":                send(t, b, http.MethodPut, g.ID+"/login", ""),
		"413":                b.Post(g.ID+"/login", url.Values{"password": {strings.Repeat("p", 64<<10)}}),
		"414":                b.Get(g.ID + "/authorize?x=" + strings.Repeat("a", 16<<10)),
		"415":                send(t, b, http.MethodPost, g.ID+"/login", "{}", "Content-Type", "application/json"),
		"signed out already": b.Get(g.ID + "/logout"),
		"consent by GET":     b.Get(g.ID + "/consent"),
		"consent":            b.Submit(login, url.Values{"username": {username}, "password": {password}}),
		"sign-out":           b.Get(g.ID + "/logout"),
	}
	all["signed out"] = b.Submit(all["sign-out"], nil)
	return all
}

func TestEveryPageHasSecurityHeaders(t *testing.T) { // U01-U03
	g, _ := start(t)
	for name, p := range everyPage(t, g) {
		t.Run("U02 "+name, func(t *testing.T) {
			wantPage(t, p, p.Status)
			if p.Status >= http.StatusInternalServerError {
				t.Fatalf("%d", p.Status)
			}
			wantHeaders(t, p)
			wantUsable(t, p)
			for _, name := range []string{"Strict-Transport-Security", "Via", "X-Powered-By"} { // the issuer of this site is plain http
				if p.Header.Get(name) != "" {
					t.Errorf("%s: %s", name, p.Header.Get(name))
				}
			}
		})
	}
}

// wantUsable checks what people and their password managers need (U24).
func wantUsable(t *testing.T, p harness.Page) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(p.Body))
	if err != nil {
		t.Fatal(err)
	}
	labels, inputs := map[string]bool{}, []map[string]string{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		a := map[string]string{}
		for _, attr := range n.Attr {
			a[attr.Key] = attr.Val
		}
		switch n.Data {
		case "html":
			if a["lang"] == "" {
				t.Error("no lang")
			}
		case "label":
			labels[a["for"]] = true
		case "input":
			inputs = append(inputs, a)
		}
	}
	for _, a := range inputs {
		want := map[string]string{"username": "username", "password": "current-password"}[a["name"]]
		switch {
		case a["type"] == "hidden":
			continue
		case !labels[a["id"]] || a["id"] == "":
			t.Errorf("U24 %v has no label", a)
		case a["autocomplete"] != want, a["name"] == "password" && a["type"] != "password", a["readonly"] != "", a["maxlength"] != "":
			t.Errorf("U24 %v", a)
		}
		if a["name"] == "password" && a["value"] != "" {
			t.Error("the page repeats the password")
		}
	}
}

func TestLoopbackIssuerCookies(t *testing.T) { // U04
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	login := b.Get(authorizeURL(g, "other"))
	p := b.Submit(login, url.Values{"username": {username}, "password": {password}})
	set := append(cookies(t, login), cookies(t, p)...)
	if want := []string{"gatehouse-browser", "gatehouse-last-sign-in", "gatehouse", "gatehouse-last-sign-in", "gatehouse-known"}; !slices.Equal(names(set), want) {
		t.Fatalf("cookies: %v", set)
	}
	for i, c := range set {
		life := []int{0, 0, 0, 0, 30 * 24 * 3600}[i] // N06: the last stays
		if c.Secure || !c.HttpOnly || c.Path != "/" || c.SameSite != http.SameSiteLaxMode || c.Domain != "" || c.MaxAge != life || len(c.Value) < 22 {
			t.Errorf("U04 %v", c)
		}
	}
}

// names are those of cookies, without the random end of the browser's own.
func names(set []*http.Cookie) (all []string) {
	for _, c := range set {
		name, end, ok := strings.Cut(c.Name, "-browser-")
		if ok && len(end) == 8 {
			name += "-browser"
		}
		all = append(all, name)
	}
	return all
}

func cookies(t *testing.T, p harness.Page) []*http.Cookie {
	t.Helper()
	var all []*http.Cookie
	for _, line := range p.Header.Values("Set-Cookie") {
		c, err := http.ParseSetCookie(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// jar carries cookies by hand, since a client's own jar keeps Secure ones back here.
type jar map[string]string

func (j jar) do(t *testing.T, method, address string, v url.Values, header ...string) harness.Page {
	t.Helper()
	var line []string
	for name, value := range j {
		line = append(line, name+"="+value)
	}
	p := send(t, harness.NewBrowser(t, ""), method, address, v.Encode(), append(header, "Cookie", strings.Join(line, "; "))...)
	for _, c := range cookies(t, p) {
		j[c.Name] = c.Value
	}
	return p
}

func TestHTTPSIssuerBehindATLSProxy(t *testing.T) { // U02, U04
	g, _ := startSite(t, strings.Replace(behindProxy, "issuer http://$ID", "issuer https://id.example", 1))
	tls := []string{"X-Forwarded-Proto", "https", "Origin", "https://id.example"}
	j := jar{}
	login := j.do(t, http.MethodGet, authorizeURL(g, "other"), nil, tls...)
	_, v := harness.Form(t, login)
	v.Set("username", username)
	v.Set("password", password)
	consent := j.do(t, http.MethodPost, g.ID+"/login", v, tls...)
	if !strings.Contains(consent.Body, `name="decision"`) {
		t.Fatalf("%d %s", consent.Status, consent.Body)
	}
	set := append(cookies(t, login), cookies(t, consent)...)
	if want := []string{
		"__Host-gatehouse-browser", "__Host-gatehouse-last-sign-in", "__Host-gatehouse", "__Host-gatehouse-last-sign-in", "__Host-gatehouse-known",
	}; !slices.Equal(names(set), want) {
		t.Fatalf("U04 cookies: %v", set)
	}
	for _, c := range set {
		if !c.Secure || !c.HttpOnly || c.Path != "/" || c.SameSite != http.SameSiteLaxMode || c.Domain != "" || len(c.Value) < 22 {
			t.Errorf("U04 %v", c)
		}
	}
	for _, p := range []harness.Page{login, consent} {
		wantHeaders(t, p)
		if !strings.HasPrefix(p.Header.Get("Strict-Transport-Security"), "max-age=") {
			t.Errorf("U02 no HSTS: %v", p.Header)
		}
	}
	t.Run("U07 the measure is the issuer, not the host of the request", func(t *testing.T) {
		_, v := harness.Form(t, consent)
		v.Set("decision", "allow")
		for _, origin := range []string{g.ID, "http://id.example", "https://id.example.evil.com", "null"} {
			p := j.do(t, http.MethodPost, g.ID+"/consent", v, "X-Forwarded-Proto", "https", "Origin", origin)
			if p.Status != http.StatusForbidden {
				t.Errorf("Origin %s: %d", origin, p.Status)
			}
		}
		p := j.do(t, http.MethodPost, g.ID+"/consent", v, tls...)
		if !strings.HasPrefix(p.Header.Get("Location"), "https://other.example/cb?code=") || !strings.HasSuffix(p.Header.Get("Location"), "&iss=https%3A%2F%2Fid.example") {
			t.Errorf("%d %s", p.Status, p.Header.Get("Location"))
		}
	})
	t.Run("without TLS nothing is answered", func(t *testing.T) {
		for _, proto := range []string{"", "http", "HTTPS", "https, http"} {
			wantPage(t, jar{}.do(t, http.MethodGet, authorizeURL(g, "web"), nil, "X-Forwarded-Proto", proto), http.StatusBadRequest)
		}
		g.Load(t, strings.Replace(site, "issuer http://$ID", "issuer https://id.example", 1)) // nobody is trusted
		wantPage(t, jar{}.do(t, http.MethodGet, authorizeURL(g, "web"), nil, "X-Forwarded-Proto", "https"), http.StatusBadRequest)
	})
}

func TestNoParameterSetsTheTargetAfterSignIn(t *testing.T) { // U10
	g, _ := start(t)
	names := []string{"return_to", "redirect", "redirect_url", "redirect_uri", "rd", "next", "continue", "url", "target", "to", "back", "goto", "RelayState", "returnUrl"}
	b := signedIn(t, g)
	for _, to := range elsewhere {
		v := url.Values{}
		for _, name := range names {
			v.Set(name, to)
		}
		for _, path := range []string{"/login", "/logout"} {
			p := b.Get(g.ID + path + "?" + v.Encode())
			if location := p.Header.Get("Location"); path == "/login" && location != "/account" || path == "/logout" && (p.Status != http.StatusOK || location != "") {
				t.Errorf("U10 %s %q: %d to %q", path, to, p.Status, location)
			}
			wantInert(t, p)
			if strings.Contains(p.Body, "evil") {
				t.Errorf("U10 %q is in the page", to)
			}
		}
	}
	fresh := harness.NewBrowser(t, g.ID)
	_, v := harness.Form(t, fresh.Get(g.ID+"/login"))
	for _, name := range names {
		v.Set(name, "https://evil.example/")
	}
	v.Set("username", username)
	v.Set("password", password)
	if p := fresh.Post(g.ID+"/login?"+v.Encode(), v); p.Status != http.StatusSeeOther || p.Header.Get("Location") != "/account" {
		t.Errorf("U10 %d %v", p.Status, p.Header)
	}
}

// elsewhere are ways to write another place that has fooled checks of addresses.
var elsewhere = []string{
	"https://evil.example", "http://evil.example", "//evil.example", "///evil.example", "////evil.example", `/\evil.example`, `\/evil.example`, `\\evil.example`,
	`/\/evil.example`, `/\\evil.example`, `//\evil.example`, "/\tevil.example", "/\t/evil.example", "/\n/evil.example", "/\r/evil.example", "/\v/evil.example", "/ /evil.example",
	"/\\\tevil.example", "/%2fevil.example", "/%5cevil.example", "/%09/evil.example", "/%0a/evil.example", "/%2f%2fevil.example", "/.//evil.example", "/./\\evil.example",
	"/..//evil.example", "/x/..//evil.example", "/./%5cevil.example", "/../%5cevil.example", "/ //evil.example", "/\u00a0/evil.example", "/\u2028/evil.example", "/\uff0fevil.example",
	"javascript:alert('evil')", "JAVASCRIPT:alert('evil')", "java\tscript:alert('evil')", "data:text/html,evil", "vbscript:evil", "https:evil.example", "https:/evil.example",
	"https:\\\\evil.example", "https://localhost@evil.example", "https://evil.example#localhost", "https://evil.example?localhost", "https://localhost.evil.example", "http:evil.example",
	"http:///evil.example", "evil.example", ".evil.example", "@evil.example", ":@evil.example", "?//evil.example", "#//evil.example", ";//evil.example", "\x00//evil.example",
	"/login?to=//evil.example", "/;@evil.example", "%2f%2fevil.example", "%68ttps://evil.example", "ftp://evil.example",
}

const markup = `"'><script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>{{7*7}}</title></style>`

func TestMarkupIsShownAsText(t *testing.T) { // U11, U22
	evil := strings.NewReplacer("client other {", "client other {\n\t\t\tname `"+markup+"`", `scope admin "Administer"`, "scope admin `"+markup+"`").Replace(site)
	g, _ := startSite(t, strings.Replace(evil, `name "Test ID"`, "name `"+markup+"`", 1))
	b := harness.NewBrowser(t, g.ID)
	for _, name := range []string{"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "error", "error_description", "login_hint", "ui_locales", "nonce", "prompt", "code_challenge", markup} {
		t.Run("U11 "+name, func(t *testing.T) {
			p := b.Get(authorizeURL(g, "other", name, markup))
			if p.Header.Get("Location") != "" {
				back(t, g, p, "https://other.example/cb")
				if strings.ContainsAny(p.Header.Get("Location"), "<>\"'") {
					t.Errorf("%s", p.Header.Get("Location"))
				}
				return
			}
			wantPage(t, p, p.Status)
		})
	}
	t.Run("U11 fields of the header", func(t *testing.T) {
		for _, path := range []string{"/authorize?client_id=x", "/login", "/logout", "/" + url.PathEscape(markup), "/consent"} {
			p := send(t, b, http.MethodGet, g.ID+path, "", "User-Agent", markup, "Referer", "javascript:alert(1)", "Accept-Language", markup, "Cookie", "gatehouse-lang="+url.QueryEscape(markup))
			wantPage(t, p, p.Status)
			if strings.Contains(p.Body, "javascript:") {
				t.Errorf("%s: %s", path, p.Body)
			}
		}
	})
	login := b.Get(authorizeURL(g, "other", "scope", "read admin"))
	t.Run("U11 a user name", func(t *testing.T) {
		p := b.Submit(login, url.Values{"username": {markup}, "password": {markup}})
		wantPage(t, p, http.StatusUnauthorized)
		if _, v := harness.Form(t, p); v.Get("username") != markup {
			t.Errorf("the name was changed: %q", v.Get("username"))
		}
	})
	t.Run("U22 consent shows who asks, what for, and where it goes", func(t *testing.T) {
		p := b.Submit(login, url.Values{"username": {username}, "password": {password}})
		wantPage(t, p, http.StatusOK)
		shown := text(t, p)
		for _, want := range []string{markup, "other.example", "Read", "admin", username} {
			if !strings.Contains(shown, want) {
				t.Errorf("%q is not on the page: %s", want, shown)
			}
		}
		if strings.Count(shown, markup) < 2 { // the client and the scope
			t.Errorf("the page: %s", shown)
		}
	})
}

// text is what a person reads on a page.
func text(t *testing.T, p harness.Page) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(p.Body))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "style" {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

func TestErrorPageDoesNotReflectInput(t *testing.T) { // U12
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	q := "error=canary1&error_description=canary2&error_hint=canary3&error_uri=https://canary4.example&message=canary5&client_id=canary6&redirect_uri=https://canary7.example&state=canary8"
	for _, path := range []string{"/authorize?", "/login?", "/logout?", "/consent?", "/error?", "/canary9?", "/canary9/../x?"} {
		p := b.Get(g.ID + path + q)
		wantPage(t, p, p.Status)
		if path == "/authorize?" { // but for the redirect address, to the developer: S13
			p.Body = strings.Replace(p.Body, `<code class="sent" translate="no"><bdi>https://canary7.example</bdi></code>`, "", 1)
		}
		if strings.Contains(p.Body, "canary") || strings.Contains(strings.Join(p.Header.Values("Link"), ""), "canary") {
			t.Errorf("U12 %s: %s", path, p.Body)
		}
	}
}
