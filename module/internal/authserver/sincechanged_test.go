package authserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// What a page asked for one client is no permission for the next of the same id.
func TestPageForADeletedClientPermitsNothing(t *testing.T) {
	g := newBrowserRig(t)
	b := g.browser()
	login := b.get(authorizeURL(webRequest()))
	consent := b.signIn(login, "ann", annsPassword)
	g.isConsent(consent)
	g.pass(time.Second)
	since := g.now()
	g.clients.change("web", func(c *oauth.Client) { c.Since = since })
	g.pass(time.Second)
	if p := b.submit(consent, "decision", "allow"); p.status != http.StatusBadRequest || p.header.Get("Location") != "" {
		t.Errorf("consent: %d %v", p.status, p.header)
	}
	if p := b.signIn(login, "ann", annsPassword); p.status != http.StatusBadRequest {
		t.Errorf("sign-in: %d", p.status)
	}
	g.isConsent(b.get(authorizeURL(webRequest())))
}
