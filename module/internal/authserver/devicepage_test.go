package authserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// atDevice is a browser in which somebody is signed in, at the page for codes.
func (g *tokenRig) atDevice(user string) (*tab, page) {
	g.t.Helper()
	b := g.browser()
	p := b.follow(b.signIn(b.get(deviceAddress), user, map[string]string{"ann": annsPassword, "bob": "y"}[user]))
	if p.status != http.StatusOK || !strings.Contains(p.body, `name="user_code"`) {
		g.t.Fatalf("no page for codes: %d %s", p.status, p.body)
	}
	g.isPage(p)
	return b, p
}

func TestCodeIsNotLookedUpBeforeSignIn(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(nil)
	for _, code := range []string{d.UserCode, "BBBB-BBBB"} {
		b := g.browser()
		g.store.plan(0, 0, false, nil)
		login := b.get(deviceAddress + "?user_code=" + code)
		g.isLogin(login)
		for _, op := range g.store.done() {
			t.Errorf("%s of the store for nobody", op)
		}
		if strings.Contains(login.body, "Living room") {
			t.Error("the client is named to nobody")
		}
		filled := b.follow(b.signIn(login, "ann", annsPassword))
		if !strings.Contains(filled.body, `value="`+code+`"`) {
			t.Errorf("the code is not carried through the sign-in: %s", filled.body)
		}
	}
	if found := codesOf(t, g.store.Memory, "u1"); len(found) > 0 {
		t.Errorf("%d codes", len(found))
	}
}

func TestUserCodeLeadsToTheConfirmPage(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(nil)
	b, p := g.atDevice("ann")
	to := b.submit(p, "user_code", " "+strings.ToLower(strings.ReplaceAll(d.UserCode, "-", " ")))
	if id := uuid(to); id != strings.Split(d.DeviceCode, ".")[0] || to.status != http.StatusSeeOther {
		t.Errorf("%d to %q", to.status, to.header.Get("Location"))
	}
	g.want(g.token(d.redeem()), 400, "authorization_pending")
}

func TestWrongCodesLookAlike(t *testing.T) {
	g := newDeviceRig(t)
	denied, expired := g.device(nil), g.device(nil)
	b, p := g.atDevice("ann")
	g.decide(b, denied, "deny")
	g.pass(10 * time.Minute)
	denied2 := g.device(nil)
	g.decide(b, denied2, "deny")
	var bodies []string
	for _, code := range []string{"BBBB-BBBB", "x", "", expired.UserCode, denied2.UserCode, strings.Repeat("B", 10_000)} {
		got := b.submit(p, "user_code", code)
		if got.status != http.StatusNotFound || !strings.Contains(got.body, `role="alert"`) {
			t.Errorf("%.20q: %d", code, got.status)
		}
		g.isPage(got)
		if len(code) < 20 {
			got.body = strings.ReplaceAll(got.body, `value="`+code+`"`, `value=""`)
		}
		bodies = append(bodies, got.body)
	}
	for _, body := range bodies[1:] {
		if body != bodies[0] {
			t.Errorf("told apart: %s\n%s", bodies[0], body)
		}
	}
}

// B27
func TestUserCodeGuessesAreLimited(t *testing.T) {
	g := newDeviceRig(t, twoUsers)
	d := g.device(nil)
	ann, p := g.atDevice("ann")
	bob, q := g.atDevice("bob")
	wrong := 0
	for i := range 1000 {
		got := ann.submit(p, "user_code", fmt.Sprintf("BBBB%04d", i))
		switch {
		case got.status == http.StatusNotFound:
			wrong++
		case got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "":
			t.Fatalf("guess %d: %d", i, got.status)
		}
	}
	if wrong != 10 {
		t.Errorf("%d guesses were judged, want 10", wrong)
	}
	if got := ann.submit(p, "user_code", d.UserCode); got.status != http.StatusTooManyRequests {
		t.Errorf("the right one at the limit: %d", got.status)
	}
	if got := bob.submit(q, "user_code", d.UserCode); got.status != http.StatusTooManyRequests {
		t.Errorf("another user at the same address: %d", got.status)
	}
	g.from("203.0.113.9")
	if got := ann.submit(p, "user_code", d.UserCode); got.status != http.StatusTooManyRequests {
		t.Errorf("the same user at another address: %d", got.status)
	}
	if got := bob.submit(q, "user_code", d.UserCode); got.status != http.StatusSeeOther {
		t.Errorf("another user elsewhere: %d", got.status)
	}
	g.pass(time.Minute)
	for i := range 30 { // right ones are no guesses
		if got := ann.submit(p, "user_code", d.UserCode); got.status != http.StatusSeeOther {
			t.Fatalf("the right code for the %d. time: %d", i+1, got.status)
		}
	}
}

func TestCrossSiteRequestCannotEnterACode(t *testing.T) { // U07
	g := newDeviceRig(t, twoUsers)
	d := g.device(nil)
	b, p := g.atDevice("ann")
	form := p.form("user_code", d.UserCode)
	other, q := g.atDevice("bob")
	for name, try := range map[string]func() page{
		"without a token":   func() page { return b.do("POST", deviceAddress, "user_code="+d.UserCode) },
		"another's token":   func() page { return b.do("POST", deviceAddress, q.form("user_code", d.UserCode).Encode()) },
		"another browser":   func() page { return other.do("POST", deviceAddress, form.Encode()) },
		"another origin":    func() page { return b.do("POST", deviceAddress, form.Encode(), "Origin", "https://evil.example") },
		"no browser":        func() page { return g.browser().do("POST", deviceAddress, form.Encode()) },
		"a cross-site post": func() page { return b.do("POST", deviceAddress, form.Encode(), "Sec-Fetch-Site", "cross-site") },
	} {
		t.Run(name, func(*testing.T) { g.isError(try(), http.StatusForbidden) })
	}
	if got := b.submit(p, "user_code", d.UserCode); got.status != http.StatusSeeOther {
		t.Errorf("our own page: %d", got.status)
	}
}

func TestUserCodePageEscapesTheQuery(t *testing.T) { // U11
	g := newDeviceRig(t)
	b, _ := g.atDevice("ann")
	for _, payload := range []string{`"><script>alert(1)</script>`, `javascript:alert(1)`, `'"<img src=x>`} {
		p := b.get(deviceAddress + "?" + params{"user_code": payload}.encode())
		if strings.Contains(p.body, payload) && strings.ContainsAny(payload, "<") {
			t.Errorf("%s is in %s", payload, p.body)
		}
		g.isPage(p)
	}
	for _, query := range []string{"user_code=" + strings.Repeat("B", 1000), "user_code=B&user_code=C"} {
		if p := b.get(deviceAddress + "?" + query); p.status != http.StatusOK || !strings.Contains(p.body, `name="user_code" type="text" value=""`) {
			t.Errorf("%.20s: %d %s", query, p.status, p.body)
		}
	}
}

func TestSignedOutUserSignsInAgainForTheCode(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(nil)
	b, p := g.atDevice("ann")
	delete(b.cookies, sessionCookie)
	login := b.submit(p, "user_code", d.UserCode)
	g.isLogin(login)
	if filled := b.follow(b.signIn(login, "ann", annsPassword)); !strings.Contains(filled.body, `value="`+d.UserCode+`"`) {
		t.Errorf("%s", filled.body)
	}
}

func TestSignOutEverywhereVoidsTheConfirmation(t *testing.T) { // U19
	g := newDeviceRig(t)
	d := g.device(nil)
	g.decide(g.browser(), d, "confirm")
	g.must(g.server.EndSubject(t.Context(), "u1"))
	g.want(g.token(d.redeem()), 400, "invalid_grant")
	open := g.device(nil)
	b := g.browser()
	asked := b.devicePage(open)
	g.must(g.server.EndSubject(t.Context(), "u1"))
	g.isLogin(b.submit(asked, "decision", "confirm"))
	g.want(g.token(open.redeem()), 400, "authorization_pending")
}

func TestLockedUserCannotConfirmADevice(t *testing.T) { // U19
	g := newDeviceRig(t)
	d, before := g.device(nil), g.device(nil)
	b := g.browser()
	g.decide(b, before, "confirm")
	asked := b.devicePage(d)
	g.users.SetLocked("u1", true)
	g.isLogin(b.submit(asked, "decision", "confirm"))
	g.want(g.token(d.redeem()), 400, "authorization_pending")
	g.want(g.token(before.redeem()), 400, "invalid_grant")
}
