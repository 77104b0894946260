package authserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzAuthorize holds the endpoint to what must be true of every query: a redirect goes
// to a registered address and nothing a stranger sends makes a fault or a record.
func FuzzAuthorize(f *testing.F) {
	f.Add(webRequest().encode())
	f.Add(appRequest().with("state", "a b&c=d%26+B<\">\u00e9").encode())
	f.Add("client_id=web&client_id=web&redirect_uri=" + url.QueryEscape(webRedirect))
	f.Add("%zz&&==&;=%00&state=%ff")
	f.Add(webRequest().encode() + "&prompt=none&max_age=99999999999999999999&ui_locales=%00")
	f.Add(webRequest().encode() + "&resource=https%3A%2F%2Fapi.example&resource=%2F&id_token_hint=a.b.c&claims=%7B")
	f.Add(webRequest().with("response_type", "token").with("response_mode", "fragment").encode())
	var g *tokenRig
	f.Fuzz(func(t *testing.T, query string) {
		if g == nil {
			g = newBrowserRig(t) // making one for each input would be most of the work
		}
		g.t = t
		for _, c := range query {
			if c <= ' ' || c == '#' || c == 0x7f {
				return // no server gets such a request line
			}
		}
		before := g.store.Len()
		p := g.browser().get(tokenIssuer + "/authorize?" + query)
		switch {
		case p.status == http.StatusFound:
			to := p.header.Get("Location")
			if !strings.HasPrefix(to, webRedirect+"?") && !strings.HasPrefix(to, appRedirect+"?") && !strings.HasPrefix(to, "https://spa.example/cb?") &&
				!strings.HasPrefix(to, "https://own.example/") && !strings.HasPrefix(to, "http://127.0.0.1") && !strings.HasPrefix(to, "com.example.app:/cb?") {
				t.Fatalf("a redirect to %q", to)
			}
			if strings.Contains(to, "&code=") || strings.Contains(to, "?code=") {
				t.Fatalf("a stranger has a code: %q", to)
			}
		case p.status != http.StatusOK && (p.status < 400 || p.status >= 500):
			t.Fatalf("%d", p.status)
		}
		if g.store.Len() != before {
			t.Fatal("something was stored")
		}
	})
}
