package authserver_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// inFragment checks a redirect whose parameters are all in the fragment.
func (g *openIDRig) inFragment(p page, status int) url.Values {
	g.t.Helper()
	before, fragment, _ := strings.Cut(p.header.Get("Location"), "#")
	v, err := url.ParseQuery(fragment)
	if err != nil || p.status != status || before != "https://old.example/cb?a=b" || v.Get("state") != "S" || v.Get("iss") != tokenIssuer ||
		p.header.Get("Cache-Control") != "no-store" || p.header.Get("Referrer-Policy") != "no-referrer" || p.body != "" {
		g.t.Fatalf("%d %v %s", p.status, p.header, p.body)
	}
	return v
}

func (g *openIDRig) refusedInFragment(p page, status int, code string) {
	g.t.Helper()
	if v := g.inFragment(p, status); v.Get("error") != code || v.Has("access_token") {
		g.t.Fatalf("%v, want %s", v, code)
	}
}

func TestImplicitGrantReturnsATokenInTheFragment(t *testing.T) { // A16
	g := newOpenIDRig(t).withImplicit()
	b := g.browser()
	consent := b.signIn(b.get(authorizeURL(oldRequest())), "ann", "x")
	g.isConsent(consent)
	g.events.told()
	v := g.inFragment(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	if v.Get("token_type") != "Bearer" || v.Get("expires_in") != "3600" || v.Get("scope") != "read" || v.Has("refresh_token") || v.Has("code") || v.Has("id_token") || len(v) != 6 {
		t.Fatalf("%v", v)
	}
	access := v.Get("access_token")
	claims := claimsOf(t, access)
	if !g.alive(access) || claims["sub"] != "u1" || claims["client_id"] != "old" || claims["scope"] != "read" {
		t.Errorf("the token: %v", claims)
	}
	if got := g.events.told(); got != "consent old u1, deprecated_grant old u1 implicit, issue old u1 implicit" {
		t.Errorf("recorded: %s", got)
	}
	if !slices.Contains(g.metrics.lines, "deprecated implicit") {
		t.Errorf("counted: %v", g.metrics.lines)
	}
	// The token belongs to a grant of the user's, by which it can be taken back.
	all := must(g.store.List(t.Context(), store.KindGrant, "u1", "", 10))
	if len(all) != 1 || all[0].ID != claims["fam"] {
		t.Fatalf("%v, want %v", all, claims["fam"])
	}
	var family store.Grant
	g.must(store.Decode(all[0].Value, &family))
	if family.Client != "old" || family.Session == "" || !slices.Equal(family.Scopes, []string{"read"}) {
		t.Errorf("%+v", family)
	}
	g.must(g.server.EndSubject(t.Context(), "u1"))
	if g.alive(access) {
		t.Error("it outlives a sign-out everywhere")
	}
	// The consent is not remembered for nothing.
	g.isLogin(b.get(authorizeURL(oldRequest())))
}

func TestRememberedConsentIsEnoughForImplicitTokens(t *testing.T) {
	g := newOpenIDRig(t).withImplicit()
	b := g.browser()
	g.inFragment(b.submit(b.signIn(b.get(authorizeURL(oldRequest())), "ann", "x"), "decision", "allow"), http.StatusSeeOther)
	for _, mode := range []string{"", "fragment"} {
		v := g.inFragment(b.get(authorizeURL(oldRequest().with("prompt", "none").with("response_mode", mode))), http.StatusFound)
		if v.Get("access_token") == "" {
			t.Errorf("%v", v)
		}
	}
	b.get(tokenIssuer + "/logout")
	g.refusedInFragment(g.browser().get(authorizeURL(oldRequest().with("prompt", "none"))), http.StatusFound, "login_required")
}

func TestOneFormIssuesOneToken(t *testing.T) {
	g := newOpenIDRig(t).withImplicit()
	b := g.browser()
	consent := b.signIn(b.get(authorizeURL(oldRequest())), "ann", "x")
	g.inFragment(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	g.isError(b.submit(consent, "decision", "allow"), http.StatusBadRequest)
	if all := must(g.store.List(t.Context(), store.KindGrant, "u1", "", 10)); len(all) != 1 {
		t.Errorf("%d grants", len(all))
	}
}

func TestImplicitTokenThatCannotBeStoredIsNotSent(t *testing.T) {
	g := newOpenIDRig(t).withImplicit()
	b := g.browser()
	consent := b.signIn(b.get(authorizeURL(oldRequest())), "ann", "x")
	g.tokens.fault = errLost
	g.isError(b.submit(consent, "decision", "allow"), http.StatusServiceUnavailable)
	g.tokens.fault = nil
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			page := b.get(authorizeURL(oldRequest().with("prompt", "consent")))
			g.store.plan(at, at, after, errLost)
			p := b.submit(page, "decision", "allow")
			reached := len(g.store.done()) >= at
			g.store.plan(0, 0, false, nil)
			if !reached {
				g.inFragment(p, http.StatusSeeOther)
				break
			}
			g.isError(p, http.StatusServiceUnavailable)
		}
	}
}

func TestImplicitGrantIsForItsClientUntilItsDate(t *testing.T) { // A15, A16, A17
	g := newOpenIDRig(t).withImplicit()
	b := g.signedInAs("ann", "x")
	foreign := rpRequest().with("response_type", "token")
	// Another client: in the fragment, since its program looks there.
	p := b.get(authorizeURL(foreign))
	if _, fragment, _ := strings.Cut(p.header.Get("Location"), "#"); !strings.HasPrefix(fragment, "error=unauthorized_client&") || strings.Contains(fragment, "access_token") {
		t.Errorf("%d %v", p.status, p.header)
	}
	g.refusedInFragment(b.get(authorizeURL(oldRequest().with("response_mode", "query"))), http.StatusFound, "invalid_request")
	g.refusedInFragment(b.get(authorizeURL(oldRequest().with("response_mode", "form_post"))), http.StatusFound, "invalid_request")
	g.refusedInFragment(b.get(authorizeURL(oldRequest().with("scope", "write"))), http.StatusFound, "invalid_scope")
	for _, other := range []string{"code token", "id_token", "token id_token", "id_token token", "TOKEN", "token ", "foo"} {
		q := g.refused(b.get(authorizeURL(rpRequest().with("response_type", other))), http.StatusFound, "unsupported_response_type")
		if q.Get("state") != "S" {
			t.Errorf("%v", q)
		}
	}
	// It has no code.
	p = b.get(authorizeURL(oldRequest().with("response_type", "code").with("code_challenge", oauth.Challenge(verifier)).with("code_challenge_method", "S256")))
	if u := must(url.Parse(p.header.Get("Location"))); u.Query().Get("error") != "unauthorized_client" || u.Fragment != "" {
		t.Errorf("%v", p.header)
	}

	consent := b.get(authorizeURL(oldRequest()))
	g.isConsent(consent)
	old := *g.clients.all["old"]
	g.clients.change("old", func(c *oauth.Client) { c.Grants = []oauth.GrantType{oauth.AuthorizationCode} })
	g.refusedInFragment(b.submit(consent, "decision", "allow"), http.StatusSeeOther, "unsupported_response_type")
	g.clients.change("old", func(c *oauth.Client) { *c = old })
	g.clients.change("old", func(c *oauth.Client) { c.Until = nil }) // a deprecated grant without an end is none
	g.refusedInFragment(b.submit(consent, "decision", "allow"), http.StatusSeeOther, "unauthorized_client")
	g.clients.change("old", func(c *oauth.Client) { *c = old })
	g.clients.change("old", func(c *oauth.Client) {
		c.Until = map[oauth.GrantType]time.Time{oauth.Implicit: g.now().Add(time.Minute)}
	})
	g.clients.change("rp", func(c *oauth.Client) {
		c.Grants = append(slices.Clone(c.Grants), oauth.Implicit)
		c.Until = map[oauth.GrantType]time.Time{oauth.Implicit: g.now().Add(time.Hour)}
	})
	g.pass(time.Minute)
	g.refusedInFragment(b.submit(consent, "decision", "allow"), http.StatusSeeOther, "unauthorized_client")
	g.refusedInFragment(b.get(authorizeURL(oldRequest())), http.StatusFound, "unauthorized_client")
	if len(must(g.store.List(t.Context(), store.KindGrant, "u1", "", 10))) != 0 {
		t.Error("a grant was stored")
	}
}

func TestUnconfiguredImplicitGrantIsUnsupported(t *testing.T) { // A15
	g := newOpenIDRig(t)
	b := g.signedInAs("ann", "x")
	g.refused(b.get(authorizeURL(rpRequest().with("response_type", "token"))), http.StatusFound, "unsupported_response_type")
	g.refused(b.get(authorizeURL(rpRequest().with("response_type", "token").with("response_mode", "fragment"))), http.StatusFound, "unsupported_response_type")
	g.refused(b.get(authorizeURL(rpRequest().with("response_mode", "fragment"))), http.StatusFound, "invalid_request")
}

func TestMetadataFollowsADeprecatedGrantsDate(t *testing.T) { // M02, M08
	g := newOpenIDRig(t).withImplicit()
	lists := func() string {
		a := g.do("GET", discoveryAddress, "")
		if b := g.do("GET", metadataAddress, ""); a.body != b.body || a.header.Get("ETag") != b.header.Get("ETag") {
			t.Error("the documents differ")
		}
		_, rest, _ := strings.Cut(a.body, `"response_types_supported":`)
		rest, _, _ = strings.Cut(rest, `,"subject_types`)
		return rest
	}
	if got := lists(); got != `["code","token"],"response_modes_supported":["query","fragment"],"grant_types_supported":["authorization_code","refresh_token","client_credentials","urn:ietf:params:oauth:grant-type:device_code","implicit"]` {
		t.Error(got)
	}
	etag := g.do("GET", discoveryAddress, "").header.Get("ETag")
	g.pass(24 * time.Hour)
	if got := lists(); got != `["code"],"response_modes_supported":["query"],"grant_types_supported":["authorization_code","refresh_token","client_credentials","urn:ietf:params:oauth:grant-type:device_code"]` {
		t.Error(got)
	}
	if a := g.do("GET", discoveryAddress, "", "If-None-Match", etag); a.status != http.StatusOK {
		t.Errorf("the old document counts as current: %d", a.status)
	}
}

func TestFragmentTokenNeverOutlivesAnEnd(t *testing.T) { // F10, C12
	for end, do := range map[string]func(*endRig){
		"user":   func(g *endRig) { g.endAnn() },
		"client": func(g *endRig) { g.must(g.server.EndClient(g.t.Context(), "u1", "old")) },
	} {
		for n, more := 1, true; more && !t.Failed(); n++ {
			g := newEndRig(t)
			(&openIDRig{tokenRig: g.tokenRig}).withImplicit()
			b := g.browser()
			at := b.submit(b.signIn(b.get(authorizeURL(oldRequest())), "ann", annsPassword), "decision", "allow")
			if at.status != http.StatusSeeOther {
				t.Fatalf("%d %s", at.status, at.body)
			}
			g.cut.arm(n, func() { do(g) })
			at = b.get(authorizeURL(oldRequest()))
			if more = g.cut.fired(); !more {
				do(g)
			}
			_, fragment, _ := strings.Cut(at.header.Get("Location"), "#")
			v := must(url.ParseQuery(fragment))
			if access := v.Get("access_token"); access != "" && g.alive(access) {
				t.Errorf("the %s ended before operation %d: a token lives", end, n)
			} else if access == "" && at.status != http.StatusOK && v.Get("error") != "access_denied" {
				t.Errorf("the %s ended before operation %d: %d %v", end, n, at.status, v)
			}
			g.eachGrantOf("u1", func(v store.Grant) {
				if !g.dead(v) {
					t.Errorf("the %s ended before operation %d: a family lives", end, n)
				}
			})
		}
	}
}

// What stored clients have is read every two seconds, and not while the store is away. A client that has it need not
// wait for that.
func TestNewClientUsesImplicitGrantBeforeItIsAdvertised(t *testing.T) {
	g := newOpenIDRig(t, func(c *authserver.Config) { c.Clients = unsurveyed{c.Clients.(*rigClients)} }).withImplicit()
	b := g.browser()
	g.inFragment(b.submit(b.signIn(b.get(authorizeURL(oldRequest())), "ann", "x"), "decision", "allow"), http.StatusSeeOther)
	g.refused(b.get(authorizeURL(rpRequest().with("response_type", "token"))), http.StatusFound, "unsupported_response_type")
}
