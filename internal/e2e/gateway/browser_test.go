package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// signedIn is a browser where alice is signed in and has allowed web both its scopes.
func signedIn(t *testing.T, g *harness.Gateway) *harness.Browser {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	b.Authorize(authorizeURL(g, "web", "scope", "read write"), username, password)
	return b
}

// consentPage signs a fresh browser in and stops at the consent page of other.
func consentPage(t *testing.T, g *harness.Gateway, user string) (*harness.Browser, harness.Page) {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	p := b.Submit(b.Get(authorizeURL(g, "other")), url.Values{"username": {user}, "password": {password}})
	wantPage(t, p, http.StatusOK)
	if !strings.Contains(p.Body, `name="decision"`) {
		t.Fatalf("no consent page: %s", p.Body)
	}
	return b, p
}

// send makes a request with header fields, cookies of the browser included.
func send(t *testing.T, b *harness.Browser, method, address, body string, header ...string) harness.Page {
	t.Helper()
	return harness.Send(t, b.Client, method, address, body, header...)
}

// wantPage checks an HTML answer that leads nowhere and can do nothing.
func wantPage(t *testing.T, p harness.Page, status int) {
	t.Helper()
	if p.Status != status || !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") || len(p.Header.Values("Location")) != 0 {
		t.Fatalf("got %d %s to %q, want a page with %d: %.300s", p.Status, p.Header.Get("Content-Type"), p.Header.Get("Location"), status, p.Body)
	}
	if p.Header.Get("Cache-Control") != "no-store" || p.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("headers: %v", p.Header)
	}
	wantInert(t, p)
}

// wantInert walks through the page as a browser parses it: nothing in it may run.
func wantInert(t *testing.T, p harness.Page) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(p.Body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script": // the account page has one, which writes its times in the reader's zone
			if !strings.HasSuffix(p.URL.Path, "/account") || len(n.Attr) != 2 || !strings.HasSuffix(attrOf(n, "src"), "/times.js") || n.FirstChild != nil {
				t.Errorf("the page has a script: %.500s", p.Body)
			}
		case "iframe", "img", "object", "embed", "base", "frame":
			t.Errorf("the page has an element <%s>: %.500s", n.Data, p.Body)
		}
		for _, a := range n.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Val))
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "http-equiv",
				(a.Key == "href" || a.Key == "action" || a.Key == "src" || a.Key == "formaction") &&
					!strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "data:image/svg+xml"),
				strings.HasPrefix(value, "//"), strings.HasPrefix(value, "/\\"):
				t.Errorf("<%s %s=%q>: %.500s", n.Data, a.Key, a.Val, p.Body)
			}
		}
	}
}

func attrOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// back reads a redirect to a client. It checks what holds for each of them.
func back(t *testing.T, g *harness.Gateway, p harness.Page, redirectURI string) url.Values {
	t.Helper()
	location := p.Header.Values("Location")
	separator := "?"
	if strings.Contains(redirectURI, "?") {
		separator = "&"
	}
	if p.Status != http.StatusFound && p.Status != http.StatusSeeOther || len(location) != 1 ||
		!strings.HasPrefix(location[0], redirectURI+separator) || strings.Contains(location[0], "#") {
		t.Fatalf("got %d to %q, want a redirect to %s: %.300s", p.Status, location, redirectURI, p.Body)
	}
	if p.Header.Get("Cache-Control") != "no-store" || p.Header.Get("Referrer-Policy") != "no-referrer" || p.Body != "" {
		t.Errorf("headers %v, body %q", p.Header, p.Body)
	}
	q, err := url.ParseQuery(strings.TrimPrefix(location[0], redirectURI+separator))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range q {
		if len(values) != 1 {
			t.Errorf("%s=%q in %s", name, values, location[0])
		}
	}
	if q.Get("iss") != g.ID { // RFC 9207; A37
		t.Errorf("iss=%q, want %q", q.Get("iss"), g.ID)
	}
	return q
}

// wantError checks a redirect that tells the client of an error.
func wantError(t *testing.T, g *harness.Gateway, p harness.Page, redirectURI, code string) {
	t.Helper()
	q := back(t, g, p, redirectURI)
	if q.Get("error") != code || q.Has("code") || q.Get("error_description") == "" {
		t.Fatalf("got %v, want %s", q, code)
	}
}

// wantCode checks a redirect that brings a code, and returns the code.
func wantCode(t *testing.T, g *harness.Gateway, p harness.Page, redirectURI string) string {
	t.Helper()
	q := back(t, g, p, redirectURI)
	if q.Get("code") == "" || q.Has("error") || len(q) > 3 {
		t.Fatalf("got %v, want a code", q)
	}
	return q.Get("code")
}

func isLogin(p harness.Page) bool {
	return p.Status == http.StatusOK && strings.Contains(p.Body, `name="password"`)
}
