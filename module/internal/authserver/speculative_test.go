package authserver_test

import (
	"net/http"
	"net/url"
	"testing"
)

// A browser that fetches a link in advance signs nobody out, and uses nothing up.
func TestPagesDoNothingBeforeTheyAreOpened(t *testing.T) {
	for _, header := range [][]string{{"Sec-Purpose", "prefetch"}, {"Sec-Purpose", "prefetch;prerender"}, {"Purpose", "prefetch"}, {"X-Moz", "prefetch"}} {
		g := newOpenIDRig(t)
		ann := g.signedInAs("ann", "x")
		hint := g.tokensOf(ann, rpRequest()).id
		out := tokenIssuer + "/logout?" + url.Values{"id_token_hint": {hint}}.Encode()
		for _, address := range []string{out, authorizeURL(rpRequest()), tokenIssuer + "/account", tokenIssuer + "/login"} {
			p := ann.do(http.MethodGet, address, "", header...)
			if p.status != http.StatusForbidden || p.body != "" || p.header["Set-Cookie"] != nil || p.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%q at %s: %d %v %s", header, address, p.status, p.header, p.body)
			}
		}
		g.issued(ann.get(authorizeURL(rpRequest().with("prompt", "none"))), http.StatusFound)
		if p := ann.do(http.MethodGet, out, "", "Sec-Purpose", "something-else"); p.status != http.StatusFound && p.status != http.StatusOK {
			t.Errorf("the link itself: %d %s", p.status, p.body)
		}
		g.refused(ann.get(authorizeURL(rpRequest().with("prompt", "none"))), http.StatusFound, "login_required")
	}
}
