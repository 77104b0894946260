package authserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzEndSession holds the sign-out to what must be true of every query: it leads to a
// registered address or nowhere, and without an id_token nobody is signed out.
func FuzzEndSession(f *testing.F) {
	f.Add("client_id=rp&post_logout_redirect_uri=" + url.QueryEscape(rpBye) + "&state=a%26b")
	f.Add("client_id=rp&post_logout_redirect_uri=" + url.QueryEscape(rpBye+"/../x"))
	f.Add("id_token_hint=eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1MSIsImF6cCI6InJwIn0.&post_logout_redirect_uri=//evil.example")
	f.Add("client_id=web&client_id=rp&ui_locales=%00&state=%ff&%zz")
	var g *openIDRig
	var b *tab
	f.Fuzz(func(t *testing.T, query string) {
		if g == nil {
			g = newOpenIDRig(t) // making one for each input would be most of the work
			b = g.signedInAs("ann", "x")
		}
		g.t = t
		for _, c := range query {
			if c <= ' ' || c == '#' || c == 0x7f {
				return // no server gets such a request line
			}
		}
		if p := b.get(tokenIssuer + "/logout?" + query); p.header.Get("Location") != "" || b.cookies[sessionCookie] == "" {
			t.Fatalf("signed out by a stranger: %d %v", p.status, p.header)
		}
		p := g.browser().get(tokenIssuer + "/logout?" + query)
		to := p.header.Get("Location")
		switch {
		case p.status == http.StatusFound && (to == rpBye || strings.HasPrefix(to, rpBye+"&state=") || to == "com.example.rp:/bye" || strings.HasPrefix(to, "com.example.rp:/bye?state=")):
		case to != "" || p.status != http.StatusOK && p.status != http.StatusBadRequest:
			t.Fatalf("%d to %q", p.status, to)
		}
	})
}
