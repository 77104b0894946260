package authserver_test

import (
	"net/http"
	"testing"
	"time"
)

// firstVisit opens addresses in as many tabs before any of them has been answered.
func (g *tokenRig) firstVisit(addresses ...string) (b *tab, pages []page) {
	b = g.browser()
	for _, a := range addresses {
		own := g.browser()
		pages = append(pages, own.get(a))
		for name, value := range own.cookies {
			b.cookies[name] = value
		}
	}
	return b, pages
}

// A browser may open several tabs on its first visit, such as those of its last session. The form in each of them signs in.
func TestTabsOfAFirstVisit(t *testing.T) {
	g := newBrowserRig(t)
	b, tabs := g.firstVisit(authorizeURL(webRequest()), tokenIssuer+"/account", authorizeURL(webRequest().with("state", "S2")))
	for i, login := range tabs[:2] { // the last cookie of those that say who signed in last is another's
		again := b.signIn(login, "ann", annsPassword)
		g.isOutdated(again, "ann")
		if i > 0 {
			continue
		}
		g.issued(b.submit(b.signIn(again, "ann", annsPassword), "decision", "allow"), http.StatusSeeOther)
		b.submit(b.get(tokenIssuer + "/logout"))
	}
	p := b.signIn(b.signIn(tabs[2], "ann", annsPassword), "ann", annsPassword)
	if q := g.back(p, http.StatusSeeOther); q.Get("state") != "S2" || !q.Has("code") {
		t.Errorf("the third tab: %v", q)
	}
	if p := b.signIn(tabs[1], "ann", ""); p.header.Get("Location") != "/auth/login" {
		t.Errorf("the second tab, when ann has signed in: %d %v", p.status, p.header)
	}
}

// In the tab that was answered last nothing is out of date.
func TestLastTabOfAFirstVisit(t *testing.T) {
	g := newBrowserRig(t)
	b, tabs := g.firstVisit(authorizeURL(webRequest()), authorizeURL(webRequest()), authorizeURL(webRequest()))
	g.isConsent(b.signIn(tabs[2], "ann", annsPassword))
	g.isConsent(b.signIn(tabs[0], "ann", "")) // goes on for who is signed in
	if again := b.get(authorizeURL(webRequest())); len(again.set) != 0 {
		t.Errorf("a browser that has its cookies gets others: %v", again.set)
	}
}

func TestScreensOfAFirstVisit(t *testing.T) {
	g := newQRRig(t)
	framed := wxRequest().with("appid", "framed").with("response_type", "").with("login_type", "jssdk")
	for name, p := range map[string]params{"of its own": wxRequest(), "in frames": framed} {
		t.Run(name, func(t *testing.T) {
			g.t = t
			b, tabs := g.firstVisit(qrURL(p), qrURL(p))
			for _, shown := range tabs {
				s := b.show(shown)
				s.wantState(408)
				if p := g.browser().askOf(s.id); p.status != http.StatusForbidden {
					t.Errorf("another browser: %d", p.status)
				}
			}
			g.pass(time.Minute)
		})
	}
}
