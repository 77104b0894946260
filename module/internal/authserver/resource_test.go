package authserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

const api, other = "https://api.example", "https://other.example"

func audOf(t *testing.T, access string) string {
	t.Helper()
	switch aud := claimsOf(t, access)["aud"].(type) {
	case string:
		return aud
	case []any:
		var all []string
		for _, a := range aud {
			s, _ := a.(string)
			all = append(all, s)
		}
		return strings.Join(all, " ")
	}
	return ""
}

func TestAuthorizedResourceNarrowsAllItsTokens(t *testing.T) { // RFC 8707
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	redeem := func(request string, resources ...string) answer {
		code := g.issued(b.get(request), http.StatusFound)
		v := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {rpRedirect}, "client_id": {"rp"}, "client_secret": {webSecret}, "resource": resources}
		return g.do("POST", tokenIssuer+"/token", v.Encode())
	}
	refresh := func(token string, resources ...string) answer {
		v := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {"rp"}, "client_secret": {webSecret}, "resource": resources}
		return g.do("POST", tokenIssuer+"/token", v.Encode())
	}
	aud := func(a answer, want string) answer {
		t.Helper()
		if got := audOf(t, g.want(a, 200, "").tokens.Access); got != want {
			t.Errorf("aud %s, want %s", got, want)
		}
		return a
	}
	all := authorizeURL(rpRequest())
	one := authorizeURL(rpRequest().with("resource", api))
	aud(redeem(all), api+" "+other)
	aud(redeem(all, other), other)
	narrow := aud(redeem(one), api)
	aud(redeem(one, api), api)
	g.want(redeem(one, other), 400, "invalid_target")
	g.want(redeem(one, api, other), 400, "invalid_target")
	aud(redeem(all+"&resource="+url.QueryEscape(other)+"&resource="+url.QueryEscape(api)+"&resource="+url.QueryEscape(api)), api+" "+other)

	narrow = aud(refresh(narrow.tokens.Refresh), api)
	g.want(refresh(narrow.tokens.Refresh, other), 400, "invalid_target") // and costs no refresh token
	narrow = aud(refresh(narrow.tokens.Refresh, api), api)
	g.clients.change("rp", func(c *oauth.Client) { c.Audience = []string{other} })
	g.want(refresh(narrow.tokens.Refresh), 400, "invalid_target")
	g.clients.change("rp", func(c *oauth.Client) { c.Audience = nil }) // the server's: api
	aud(refresh(narrow.tokens.Refresh), api)
}

func TestUnknownResourcesAreRefused(t *testing.T) { // RFC 8707 section 2
	g := newOpenIDRig(t).withImplicit()
	b := g.signedInAs("ann", "x")
	for _, resource := range []string{"https://evil.example", api + "/x/../y", api + "x", api + "#x", api + "?a", "api.example", "/api", "api", "%", strings.ToUpper(api)} {
		q := g.refused(b.get(authorizeURL(rpRequest().with("resource", resource))), http.StatusFound, "invalid_target")
		if q.Get("state") != "S" {
			t.Errorf("%v", q)
		}
		g.refusedInFragment(b.get(authorizeURL(oldRequest().with("resource", resource))), http.StatusFound, "invalid_target")
	}
	g.refused(b.get(authorizeURL(rpRequest().with("resource", api))+"&resource="+url.QueryEscape("https://evil.example")), http.StatusFound, "invalid_target")
}

func TestResourceIsSealedIntoTheRequestAndRechecked(t *testing.T) {
	g := newOpenIDRig(t).withImplicit()
	b := g.browser()
	consent := b.signIn(b.get(authorizeURL(oldRequest().with("resource", other))), "ann", "x")
	v := g.inFragment(b.submit(consent, "decision", "allow", "resource", api), http.StatusSeeOther)
	if got := audOf(t, v.Get("access_token")); got != other {
		t.Errorf("aud %s", got)
	}
	// What was remembered is what the client's tokens may be for; a resource can only be less.
	v = g.inFragment(b.get(authorizeURL(oldRequest().with("resource", api))), http.StatusFound)
	if got := audOf(t, v.Get("access_token")); got != api {
		t.Errorf("aud %s", got)
	}
	late := b.get(authorizeURL(oldRequest().with("resource", other).with("prompt", "consent")))
	g.clients.change("old", func(c *oauth.Client) { c.Audience = []string{api} })
	g.refusedInFragment(b.submit(late, "decision", "allow"), http.StatusSeeOther, "invalid_target")
	g.pass(time.Minute)
}
