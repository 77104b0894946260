package authserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const pushedPrefix = "urn:ietf:params:oauth:request_uri:"

// push posts an authorization request to /par.
func (g *tokenRig) push(p params, header ...string) answer {
	return g.do(http.MethodPost, tokenIssuer+"/par", p.encode(), header...)
}

// pushed is push for what must succeed; it returns the request_uri.
func (g *tokenRig) pushed(p params, header ...string) string {
	g.t.Helper()
	a := g.want(g.push(p, header...), http.StatusCreated, "")
	var m struct {
		URI     string `json:"request_uri"`
		Expires int    `json:"expires_in"`
	}
	g.must(json.Unmarshal([]byte(a.body), &m))
	if !strings.HasPrefix(m.URI, pushedPrefix) || len(m.URI) != len(pushedPrefix)+43 || m.Expires != 60 {
		g.t.Fatalf("the answer: %s", a.body)
	}
	return m.URI
}

func webPush() params { return webRequest().with("client_secret", webSecret) }

// use is the address that the browser is sent to.
func use(client, uri string, more ...string) string {
	v := url.Values{"client_id": {client}, "request_uri": {uri}}
	for i := 0; i+1 < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return tokenIssuer + "/authorize?" + v.Encode()
}

func TestPushedRequestBehavesLikeAQueryRequest(t *testing.T) {
	g := newBrowserRig(t)
	uri := g.pushed(webPush().with("nonce", "n"))
	b := g.browser()
	login := b.get(use("web", uri))
	g.isLogin(login)
	consent := b.signIn(login, "ann", annsPassword)
	g.isConsent(consent)
	code := g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	g.want(g.token(redeemWeb(code)), 200, "")
}

func TestExtraQueryWithAPushedRequestIsIgnored(t *testing.T) {
	g := newBrowserRig(t)
	b := g.signedIn()
	uri := g.pushed(webPush())
	q := g.back(b.get(use("web", uri, "state", "evil", "redirect_uri", "https://evil.example/", "scope", "write", "prompt", "none", "request", "x")), http.StatusFound)
	if q.Get("state") != "S" || q.Get("code") == "" {
		t.Errorf("got %v", q)
	}
}

func TestPushedRequestSurvivesReloadsUntilItsCode(t *testing.T) {
	g := newBrowserRig(t)
	uri := g.pushed(webPush())
	b := g.browser()
	early := b.get(use("web", uri))
	g.isLogin(early)
	g.isLogin(b.get(use("web", uri)))
	consent := b.signIn(early, "ann", annsPassword)
	g.isConsent(consent)
	g.isConsent(b.get(use("web", uri)))
	other := b.get(use("web", uri)) // a second tab, before the first is answered
	first := g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	if again := g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther); again != first {
		t.Error("the same form sent twice led to two codes")
	}
	if again := g.issued(b.submit(other, "decision", "allow"), http.StatusSeeOther); again != first {
		t.Error("the second tab led to another code")
	}
	g.want(g.token(redeemWeb(first)), 200, "")
	g.isError(b.submit(other, "decision", "allow"), http.StatusBadRequest)
	g.isError(b.get(use("web", uri)), http.StatusBadRequest)
	g.isError(g.browser().get(use("web", uri)), http.StatusBadRequest) // nor does anybody else see a page
}

// One request leads to one code, also where two people at two browsers open it.
func TestPushedRequestIsUsedUpByOneUser(t *testing.T) {
	g := newBrowserRig(t, func(c *authserver.Config) {
		c.Directory = directorytest.NewMemory(
			directorytest.Seed{User: directory.User{ID: "u1", Username: "ann"}, Password: "x"},
			directorytest.Seed{User: directory.User{ID: "u2", Username: "ben"}, Password: "x"},
		)
	})
	uri := g.pushed(webPush())
	var consents []page
	tabs := []*tab{g.browser(), g.browser()}
	for i, name := range []string{"ann", "ben"} {
		consent := tabs[i].signIn(tabs[i].get(use("web", uri)), name, "x")
		g.isConsent(consent)
		consents = append(consents, consent)
	}
	g.issued(tabs[0].submit(consents[0], "decision", "allow"), http.StatusSeeOther)
	g.isError(tabs[1].submit(consents[1], "decision", "allow"), http.StatusBadRequest)
	g.pass(2 * time.Minute) // the request itself has expired, the form has not
	g.isError(tabs[1].submit(consents[1], "decision", "allow"), http.StatusBadRequest)
}

func TestRequestURIIsBoundToItsClientAndExpires(t *testing.T) {
	g := newBrowserRig(t)
	b := g.signedIn()
	uri := g.pushed(webPush())
	for name, address := range map[string]string{
		"another client":   use("one", uri),
		"an unknown one":   use("nobody", uri),
		"no client":        use("", uri),
		"one never made":   use("web", pushedPrefix+strings.Repeat("A", 43)),
		"a malformed one":  use("web", pushedPrefix+"../code"),
		"an empty one":     use("web", pushedPrefix),
		"in other letters": use("web", pushedPrefix+strings.ToLower(strings.TrimPrefix(uri, pushedPrefix))),
	} {
		p := b.get(address)
		if p.status != http.StatusBadRequest || p.header.Get("Location") != "" {
			t.Errorf("%s: %d %v", name, p.status, p.header)
		}
	}
	g.issued(b.get(use("web", uri)), http.StatusFound)
	uri = g.pushed(webPush())
	g.pass(59 * time.Second)
	g.isRedirect(b.get(use("web", uri)))
	uri = g.pushed(webPush())
	g.pass(time.Minute)
	g.isError(b.get(use("web", uri)), http.StatusBadRequest)
}

func (g *tokenRig) isRedirect(p page) { g.t.Helper(); g.back(p, http.StatusFound) }

// A29: nothing of another form is looked at, let alone fetched.
func TestForeignRequestURIsAreNotSupported(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	for _, uri := range []string{"https://canary.example/request.jwt", "urn:ietf:params:oauth:request_uri", "URN:ietf:params:oauth:request_uri:x"} {
		g.refused(b.get(authorizeURL(webRequest().with("request_uri", uri))), http.StatusFound, "request_uri_not_supported")
	}
	p := b.get(tokenIssuer + "/authorize?client_id=web&request_uri=" + pushedPrefix + "x&request_uri=https%3A%2F%2Fcanary.example")
	if p.status != http.StatusBadRequest || p.header.Get("Location") != "" {
		t.Errorf("repeated: %d %v", p.status, p.header)
	}
}

func TestPushedRequestIsCheckedOnPushAndUse(t *testing.T) {
	g := newBrowserRig(t)
	for name, c := range map[string]struct {
		p      params
		status int
		code   string
	}{
		"no client":            {webRequest().with("client_id", ""), 401, "invalid_client"},
		"no secret":            {webRequest(), 401, "invalid_client"},
		"a wrong secret":       {webPush().with("client_secret", "x"), 401, "invalid_client"},
		"a request_uri":        {webPush().with("request_uri", "urn:x"), 400, "invalid_request"},
		"a request object":     {webPush().with("request", "x"), 400, "request_not_supported"},
		"no redirect_uri":      {webPush().with("redirect_uri", ""), 400, "invalid_request"},
		"another redirect_uri": {webPush().with("redirect_uri", "https://evil.example/cb"), 400, "invalid_request"},
		"no response_type":     {webPush().with("response_type", ""), 400, "invalid_request"},
		"another scope":        {webPush().with("scope", "admin"), 400, "invalid_scope"},
		"no state":             {webPush().with("state", ""), 400, "invalid_request"},
		"plain PKCE":           {webPush().with("code_challenge", oauth.Challenge(verifier)).with("code_challenge_method", "plain"), 400, "invalid_request"},
		"public without PKCE":  {appRequest().with("code_challenge", "").with("code_challenge_method", ""), 400, "invalid_request"},
		"a client without the code grant": {
			webPush().with("client_id", "job"), 400, "invalid_request",
		},
		"too large": {webPush().with("x", strings.Repeat("x", 17<<10)), 413, "invalid_request"},
	} {
		if a := g.push(c.p); a.status != c.status || a.tokens.Error != c.code || strings.Contains(a.body, "request_uri:") {
			t.Errorf("%s: %d %s, want %d %s", name, a.status, a.body, c.status, c.code)
		}
	}
	g.want(g.do(http.MethodPost, tokenIssuer+"/par?client_id=web", webPush().encode()), 400, "invalid_request")
	g.want(g.do(http.MethodPost, tokenIssuer+"/par", webPush().encode()+"&state=T"), 400, "invalid_request")
	if a := g.do(http.MethodGet, tokenIssuer+"/par", ""); a.status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", a.status)
	}
	b := g.signedIn()
	uri := g.pushed(webPush())
	g.clients.change("web", func(c *oauth.Client) { c.RedirectURIs = []string{"https://web.example/new"} })
	g.isError(b.get(use("web", uri)), http.StatusBadRequest)
	g.clients.remove("web")
	g.isError(b.get(use("web", uri)), http.StatusBadRequest)
}

func TestPushedCredentialsAreNotStored(t *testing.T) {
	g, pair := newKeyRig(t)
	p := webRequest().with("client_id", "keyed").with("client_assertion_type", jwtBearer).with("client_assertion", pair.sign(g.claims("keyed")))
	uri := g.pushed(p)
	g.want(g.push(p), 401, "invalid_client") // the assertion served once
	b := g.signedIn()
	consent := b.get(use("keyed", uri))
	g.isConsent(consent)
	g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
}

func TestPublicClientsPushesAreLimited(t *testing.T) {
	g := newBrowserRig(t)
	for range 30 {
		g.pushed(appRequest())
	}
	a := g.want(g.push(appRequest()), 429, "slow_down")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	g.pushed(webPush()) // who authenticates is not limited
	g.from("192.0.2.77")
	g.pushed(appRequest())
	limited := 0
	for i := range 600 {
		g.from("198.51.100." + string(rune('0'+i%10)) + string(rune('0'+i/10%10)))
		if g.push(appRequest()).status == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited != 31 {
		t.Errorf("%d pushes were limited beyond the 600 of all addresses, want 31", limited)
	}
	g.pushed(webPush()) // nor by what others did
	g.pass(time.Minute)
	g.pushed(appRequest())
}

// N06: 20 addresses with 30 pushes each used up what everybody had.
func TestFewAddressesCannotExhaustPushes(t *testing.T) {
	g := newBrowserRig(t)
	for i := range 100 {
		g.from(fmt.Sprintf("%d.9.9.9", 1+i))
		for range 31 {
			g.push(appRequest())
		}
	}
	for i := range 65 { // and a customer with a /48
		for j := range 10 {
			g.from(fmt.Sprintf("2001:db8:7:%x::1", i*10+j))
			g.push(appRequest())
		}
	}
	for _, ip := range []string{"198.51.100.1", "203.0.113.1", "2001:db8:8::1"} {
		g.from(ip)
		if a := g.push(appRequest()); a.status != http.StatusCreated {
			t.Errorf("N06 %s pushes for the first time: %d", ip, a.status)
		}
	}
}

func TestStoreFaultsOnPushedRequests(t *testing.T) {
	g := newBrowserRig(t)
	away := errors.New("away")
	g.store.plan(1, 100, false, away)
	g.want(g.push(webPush()), 503, "temporarily_unavailable")
	g.store.plan(0, 0, false, nil)
	b := g.signedIn()
	uri := g.pushed(webPush())
	g.store.plan(1, 100, false, away)
	g.isError(b.get(use("web", uri)), http.StatusServiceUnavailable)
	g.store.plan(0, 0, false, nil)
	g.issued(b.get(use("web", uri)), http.StatusFound)
}

// Every fault on the way to the code leaves one code at most.
func TestPushedRequestYieldsOneCodeDespiteLostWrites(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for _, after := range []bool{false, true} {
			g := newBrowserRig(t)
			b := g.browser()
			uri := g.pushed(webPush())
			consent := b.signIn(b.get(use("web", uri)), "ann", annsPassword)
			g.isConsent(consent)
			g.store.plan(n, n, after, errors.New("away"))
			codes := map[string]bool{}
			for range 3 {
				p := b.submit(consent, "decision", "allow")
				if p.status == http.StatusSeeOther {
					codes[g.issued(p, http.StatusSeeOther)] = true
				}
			}
			if len(codes) != 1 {
				t.Errorf("fault %d (after: %v): %d codes", n, after, len(codes))
			}
			g.isError(b.get(use("web", uri)), http.StatusBadRequest)
		}
	}
}

// Whoever need not be asked sends no form: the address itself is opened again after a 503.
func TestPushedRequestIsRepeatableAfterAFault(t *testing.T) {
	for n := 1; n <= 16; n++ {
		for _, after := range []bool{false, true} {
			g := newBrowserRig(t)
			b := g.signedIn()
			uri := g.pushed(webPush())
			g.store.plan(n, n, after, errors.New("away"))
			p := b.get(use("web", uri))
			failed := g.store.done()
			g.store.plan(0, 0, false, nil)
			if p.status == http.StatusServiceUnavailable {
				p = b.get(use("web", uri))
			}
			if p.status != http.StatusFound {
				t.Errorf("fault %d (after: %v) of %q: then %d %.200s", n, after, failed, p.status, p.body)
				continue
			}
			g.want(g.token(redeemWeb(g.issued(p, http.StatusFound))), 200, "")
			g.isError(b.get(use("web", uri)), http.StatusBadRequest)
		}
	}
}

func TestDynamicClientHasItsOwnPushLimit(t *testing.T) {
	r := newRegisterRig(t)
	a := r.made(newMeta("token_endpoint_auth_method", "client_secret_post"))
	p := params{
		"client_id": a.text("client_id"), "client_secret": a.text("client_secret"), "redirect_uri": "https://self.example/cb",
		"response_type": "code", "scope": "read", "state": "S",
	}
	for range 600 {
		r.pushed(p)
	}
	r.want(r.push(p), 429, "slow_down")
	r.pushed(webPush())
}

func TestPushedRequestIsUsedUpByATokenToo(t *testing.T) {
	g := newBrowserRig(t)
	b := g.signedIn()
	g.clients.change("web", func(c *oauth.Client) {
		c.Grants = append(c.Grants, oauth.Implicit)
		c.Until = map[oauth.GrantType]time.Time{oauth.Implicit: g.now().Add(time.Hour)}
	})
	uri := g.pushed(webPush().with("response_type", "token"))
	p := b.get(use("web", uri))
	if location := p.header.Get("Location"); p.status != http.StatusFound || !strings.Contains(location, "#") || !strings.Contains(location, "access_token=") {
		t.Fatalf("%d %s", p.status, location)
	}
	g.isError(b.get(use("web", uri)), http.StatusBadRequest)
}
