package authserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/audit"
)

func TestBrowserAuditTrail(t *testing.T) {
	g := newEndRig(t)
	b := g.browser()
	login := b.get(authorizeURL(webRequest()))
	b.signIn(login, "ann", "wrong")
	consent := b.signIn(login, "ann", annsPassword)
	b.submit(consent, "decision", "deny")
	b.submit(b.get(authorizeURL(webRequest())), "decision", "allow")
	b.submit(b.get(tokenIssuer + "/logout"))
	login = b.get(authorizeURL(webRequest()))
	for i := range 12 {
		g.from(fmt.Sprint("192.0.2.", i))
		g.browserAt(b).signIn(login, "carl"+strings.Repeat("l", 80), "wrong")
	}
	g.from("192.0.2.100")
	for range 31 {
		g.browserAt(b).signIn(login, "", "")
	}
	// Nobody is called carlll...: the name itself is in no event, and all have one digest.
	carl := g.trail.of(audit.Lockout)[0].User
	if !strings.HasPrefix(carl, "hmac:") || len(carl) != len("hmac:")+16 || strings.Contains(carl, "carl") {
		t.Errorf("N13 the name that was locked stands in the trail as %q", carl)
	}
	for _, want := range []struct {
		n int
		e audit.Event
	}{
		{1, audit.Event{Name: audit.SignInFailed, Subject: "u1", Client: "web", Reason: "refused"}},
		{1, audit.Event{Name: audit.SignIn, Subject: "u1", Client: "web"}},
		{1, audit.Event{Name: audit.ConsentDenied, Subject: "u1", Client: "web", Scopes: []string{"read"}}},
		{1, audit.Event{Name: audit.Consent, Subject: "u1", Client: "web", Scopes: []string{"read"}}},
		{1, audit.Event{Name: audit.SignOut, Subject: "u1"}},
		{10, audit.Event{Name: audit.SignInFailed, User: carl, Client: "web", Reason: "refused"}},
		{2, audit.Event{Name: audit.SignInFailed, User: carl, Client: "web", Reason: "locked"}},
		{1, audit.Event{Name: audit.Lockout, User: carl}},
		{30, audit.Event{Name: audit.SignInFailed, Client: "web", Reason: "refused"}},
		{1, audit.Event{Name: audit.SignInFailed, Client: "web", Reason: "limited"}},
	} {
		n := 0
		for _, e := range g.trail.of(want.e.Name) {
			if fmt.Sprint(e) == fmt.Sprint(want.e) {
				n++
			}
		}
		if n != want.n {
			t.Errorf("%d times %+v, want %d", n, want.e, want.n)
		}
	}
	if got := g.trail.of(audit.Lockout); len(got) != 1 {
		t.Errorf("lockouts: %v", got)
	}
}
