package authserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// N07: a consent holds for what the page said about the client.
func TestConsentCoversOnlyWhatThePageShowed(t *testing.T) {
	const (
		otherPath = "https://web.example/other"
		otherHost = "https://evil.example/cb"
		otherPort = "https://web.example:8443/cb"
		subdomain = "https://x.web.example/cb"
	)
	for _, c := range []struct {
		name   string
		change func(*oauth.Client)
		to     string // the redirect address asked for afterwards
		asked  bool
	}{
		{"nothing", func(*oauth.Client) {}, webRedirect, false},
		{"the name", func(c *oauth.Client) { c.Name = "Your bank" }, webRedirect, true},
		{"a name that is the id", func(c *oauth.Client) { c.Name = c.ID }, webRedirect, false},
		{"the host", func(c *oauth.Client) { c.RedirectURIs = []string{otherHost} }, otherHost, true},
		{"a host more, and the other one asked for", func(c *oauth.Client) { c.RedirectURIs = append(c.RedirectURIs, otherHost) }, otherHost, true},
		{"a host more, and the same one asked for", func(c *oauth.Client) { c.RedirectURIs = append(c.RedirectURIs, otherHost) }, webRedirect, false},
		{"the path", func(c *oauth.Client) { c.RedirectURIs = []string{otherPath} }, otherPath, false},
		{"the port", func(c *oauth.Client) { c.RedirectURIs = []string{otherPort} }, otherPort, true},
		{"a subdomain", func(c *oauth.Client) { c.RedirectURIs = []string{subdomain} }, subdomain, true},
		{"who vouches for the name", func(c *oauth.Client) { c.SelfRegistered = !c.SelfRegistered }, webRedirect, true},
		{"its secret and scopes", func(c *oauth.Client) { c.Scopes, c.Public = []string{"read"}, true }, webRedirect, false},
	} {
		for _, selfRegistered := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				g := newBrowserRig(t)
				g.clients.change("web", func(v *oauth.Client) { v.SelfRegistered = selfRegistered })
				b := g.signedIn()
				g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
				g.clients.change("web", func(v *oauth.Client) { v.RedirectURIs = append([]string(nil), v.RedirectURIs...); c.change(v) })
				again := webRequest().with("redirect_uri", c.to).with("code_challenge", oauth.Challenge(verifier)).with("code_challenge_method", "S256")
				code := func(p page) bool { return strings.Contains(p.header.Get("Location"), "code=") }
				if quiet := b.get(authorizeURL(again.with("prompt", "none"))); code(quiet) == c.asked ||
					c.asked && !strings.Contains(quiet.header.Get("Location"), "error=consent_required") {
					t.Errorf("prompt=none: %d %s", quiet.status, quiet.header.Get("Location"))
				}
				p := b.get(authorizeURL(again))
				if code(p) == c.asked {
					t.Fatalf("asked: %v", !c.asked)
				}
				if !c.asked {
					return
				}
				g.isConsent(p)
				if !code(b.submit(p, "decision", "allow")) || !code(b.get(authorizeURL(again))) {
					t.Error("the new answer is not remembered")
				}
			})
		}
	}
}

// N07: each host has scopes of its own, and what was allowed before still holds.
func TestConsentIsPerRedirectHost(t *testing.T) {
	const other = "https://other.example/cb"
	g := newBrowserRig(t)
	g.clients.change("web", func(c *oauth.Client) { c.RedirectURIs = []string{webRedirect, other} })
	b := g.signedIn()
	toOther := webRequest().with("redirect_uri", other).with("scope", "write")
	p := b.get(authorizeURL(toOther))
	g.isConsent(p)
	b.submit(p, "decision", "allow")
	for _, c := range []struct {
		to, scope string
		asked     bool
	}{
		{webRedirect, "read", false}, {other, "write", false}, {webRedirect, "write", true}, {other, "read", true}, {webRedirect, "read write", true},
	} {
		p := b.get(authorizeURL(webRequest().with("redirect_uri", c.to).with("scope", c.scope)))
		if asked := p.status == http.StatusOK; asked != c.asked {
			t.Errorf("%s at %s: asked %v", c.scope, c.to, asked)
		}
	}
}

// N07: a consent of a release that did not keep what the page said is asked for once more.
func TestConsentWithoutRecordedDetailsIsAskedAgain(t *testing.T) {
	for _, selfRegistered := range []bool{false, true} {
		g := newEndRig(t)
		g.clients.change("web", func(c *oauth.Client) { c.SelfRegistered = selfRegistered })
		b := g.signedIn()
		key := onlyKey(g, store.KindConsent)
		record, err := g.store.Memory.Get(t.Context(), key)
		g.must(err)
		record.Value = []byte(`{"v":1,"client":"web","sub":"u1","scopes":["read","write"],"at":"2030-03-17T17:46:40Z"}`)
		_, err = g.store.Memory.Swap(t.Context(), record)
		g.must(err)
		p := b.get(authorizeURL(webRequest()))
		g.isConsent(p)
		g.issued(b.submit(p, "decision", "allow"), http.StatusSeeOther)
		g.issued(b.get(authorizeURL(webRequest())), http.StatusFound)
		g.isConsent(b.get(authorizeURL(webRequest().with("scope", "write"))))
	}
}

// N07: a native program that keeps a secret listens at another port each time.
func TestLoopbackConsentCoversEveryPort(t *testing.T) {
	g := newBrowserRig(t)
	g.clients.change("web", func(c *oauth.Client) { c.Native, c.RedirectURIs = true, []string{"http://127.0.0.1/cb"} })
	b := g.browser()
	p := b.consentPage(webRequest().with("redirect_uri", "http://127.0.0.1:40001/cb"))
	b.submit(p, "decision", "allow")
	g.issued(b.get(authorizeURL(webRequest().with("redirect_uri", "http://127.0.0.1:40002/cb"))), http.StatusFound)
}

// N07: what counts is the page that the user saw, not the client as it is when the answer
// comes.
func TestClientChangeWhileConsentPageIsOpenAsksAgain(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	first := b.consentPage(webRequest())
	g.clients.change("web", func(c *oauth.Client) { c.Name = "Your bank" })
	second := b.submit(first, "decision", "allow")
	g.isConsent(second)
	if !strings.Contains(second.body, "Your bank") || g.count(store.KindConsent) != 0 || g.count(store.KindCode) != 0 {
		t.Errorf("the answer to another page counted: %s", second.body)
	}
	g.refused(b.submit(first, "decision", "deny"), http.StatusSeeOther, "access_denied")
	g.issued(b.submit(second, "decision", "allow"), http.StatusSeeOther)
}

// N07: the client changes at any moment of an answer. What it has become was never shown.
func TestClientChangeDuringConsentAsksAgain(t *testing.T) {
	for _, remembered := range []bool{false, true} {
		codes := 0
		for n, more := 1, true; more && !t.Failed(); n++ {
			g := newEndRig(t)
			var b *tab
			var ask func() page
			if remembered {
				b = g.signedIn()
				ask = func() page { return b.get(authorizeURL(webRequest())) }
			} else {
				b = g.browser()
				first := b.consentPage(webRequest())
				ask = func() page { return b.submit(first, "decision", "allow") }
			}
			g.cut.arm(n, func() { g.clients.change("web", func(c *oauth.Client) { c.Name = "Your bank" }) })
			p := ask()
			if more = g.cut.fired(); !more {
				break
			}
			if strings.Contains(p.header.Get("Location"), "code=") {
				codes++
			}
			g.isConsent(b.get(authorizeURL(webRequest())))
		}
		if codes > 1 { // before the last operation, when nothing is compared any more
			t.Errorf("remembered %v: changed before %d operations, the client still got a code", remembered, codes)
		}
	}
}

// N07: the page of a second device remembers nothing, and its answer counts for what it said.
func TestClientChangeDuringDeviceConfirmAsksAgain(t *testing.T) {
	g := newDeviceRig(t)
	b, d := g.browser(), g.device(params{"scope": "read"})
	first := b.devicePage(d)
	g.clients.change("tv", func(c *oauth.Client) { c.Name = "Your bank" })
	second := b.submit(first, "decision", "confirm")
	if second.status != http.StatusOK || !strings.Contains(second.body, "Your bank") || !strings.Contains(second.body, `name="decision"`) {
		t.Fatalf("%d %s", second.status, second.body)
	}
	g.want(g.token(d.redeem()), 400, "authorization_pending")
	g.isDone(b.submit(second, "decision", "confirm"), "")
	g.pass(6 * time.Second)
	g.want(g.token(d.redeem()), 200, "")
}
