package authserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// newQREndRig is an endRig with sites that are signed in to by scanning.
func newQREndRig(t *testing.T) *endRig {
	t.Helper()
	g := newEndRig(t, func(c *authserver.Config) {
		c.CrossDevice = must(crossdevice.New(crossdevice.Config{Store: c.Store, Now: c.Now, Hold: 20 * time.Millisecond}))
		t.Cleanup(c.CrossDevice.Close)
	})
	g.addSites()
	g.clients.change("wx", func(c *oauth.Client) {
		c.SecretHashes, c.Grants = []string{secret.Digest(webSecret)}, []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken}
	})
	return g
}

func (g *endRig) exchange(code string) sns {
	g.t.Helper()
	return g.sns("oauth2/access_token", params{"appid": "wx", "secret": webSecret, "code": code, "grant_type": "authorization_code"})
}

// confirmedBy is a ticket that the browser has confirmed.
func (g *endRig) confirmedBy(phone *tab) screen {
	g.t.Helper()
	s := g.scanPage(wxRequest())
	g.isDone(phone.submit(phone.scan(s), "number", s.number, "decision", "confirm"), "")
	return s
}

// What ends between the confirmation and the poll that fetches the code.
func TestWithdrawnConfirmationIsNotDelivered(t *testing.T) {
	for name, end := range map[string]func(*endRig, *tab){
		"the user signs out everywhere": func(g *endRig, _ *tab) { g.endAnn() },
		"the user signs out":            func(g *endRig, b *tab) { b.submit(b.get(tokenIssuer + "/logout")) },
		"the user is deleted":           func(g *endRig, _ *tab) { g.must(g.server.ForgetSubject(g.t.Context(), "u1")) },
		"the client is withdrawn":       func(g *endRig, _ *tab) { g.must(g.server.EndClient(g.t.Context(), "u1", "wx")) },
		"the site is withdrawn on the account page": func(g *endRig, b *tab) {
			p := g.account(b)
			buttons := p.buttons("withdraw")
			if len(buttons) != 1 {
				g.t.Fatalf("the site is not there: %s", p.body)
			}
			b.submit(p, "withdraw", buttons[0])
		},
		"the client is deleted": func(g *endRig, _ *tab) { g.clients.remove("wx") },
		"the client is another of that id": func(g *endRig, _ *tab) {
			g.clients.change("wx", func(c *oauth.Client) { c.Since = g.now().Add(time.Nanosecond) })
		},
		"the client left the configuration and came back": func(g *endRig, _ *tab) {
			g.must(store.RecordVanished(g.t.Context(), g.store, "wx", g.now()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newQREndRig(t)
			phone := g.phone()
			if a := g.exchange(g.confirmedBy(phone).wantState(405)); a.status != http.StatusOK { // so that there is something to withdraw
				t.Fatalf("%d %s", a.status, a.body)
			}
			s := g.confirmedBy(phone)
			end(g, phone)
			for range 2 {
				s.wantState(402)
			}
			if p := s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id); p.status < 400 {
				t.Errorf("the page: %d %v", p.status, p.header)
			}
		})
	}
	t.Run("another client's end is none of it", func(t *testing.T) {
		g := newQREndRig(t)
		s := g.confirmedBy(g.phone())
		g.must(g.server.EndClient(t.Context(), "u1", "web"))
		g.must(g.server.EndClient(t.Context(), "u2", "wx"))
		if a := g.exchange(s.wantState(405)); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// Whenever it comes during the confirmation and the delivery: what is issued is dead, or
// nothing is.
func TestEndDuringDeliveryLeavesNothing(t *testing.T) { // U19
	for name, end := range map[string]func(*endRig){
		"everywhere": (*endRig).endAnn,
		"the client": func(g *endRig) { g.must(g.server.EndClient(g.t.Context(), "u1", "wx")) },
	} {
		for n, more := 1, true; more; n++ {
			t.Run(fmt.Sprintf("%s, before operation %d", name, n), func(t *testing.T) {
				more = false
				g := newQREndRig(t)
				s := g.confirmedBy(g.phone())
				g.cut.arm(n, func() { end(g) })
				state, code := s.poll()
				if more = g.cut.fired(); !more {
					end(g)
				}
				if state != 402 && state != 405 {
					t.Fatalf("the poll says %d", state)
				}
				if code != "" {
					if a := g.exchange(code); a.status == http.StatusOK {
						t.Errorf("the code is redeemed: %s", a.body)
					}
				}
				s.wantState(402)
				for _, v := range codesOf(g.t, g.store.Memory, "u1") {
					if v.State == store.CodeIssued {
						t.Errorf("a code lives: %+v", v)
					}
				}
			})
		}
	}
}

func TestSignOutDuringScanConfirmationLeavesNothing(t *testing.T) { // U19
	for n, more := 1, true; more; n++ {
		t.Run(fmt.Sprintf("before operation %d", n), func(t *testing.T) {
			more = false
			g := newQREndRig(t)
			s, phone := g.scanPage(wxRequest()), g.phone()
			asks := phone.scan(s)
			codes := 0 // when it came
			g.cut.arm(n, func() {
				codes = len(codesOf(g.t, g.store.Memory, "u1"))
				g.endAnn()
			})
			said := phone.submit(asks, "number", s.number, "decision", "confirm")
			if more = g.cut.fired(); !more {
				g.endAnn()
			}
			if more && codes == 0 && strings.Contains(said.body, "Confirmed") {
				t.Error("the page says that the site is signed in")
			}
			if state, code := s.poll(); state == 405 {
				t.Errorf("the code %q is delivered", code)
			}
			for _, v := range codesOf(g.t, g.store.Memory, "u1") {
				if v.State == store.CodeIssued {
					t.Errorf("a code lives: %+v", v)
				}
			}
		})
	}
}

func TestQRCodeFlowCreatesNoCodeBeforeDelivery(t *testing.T) {
	g := newQREndRig(t)
	phone := g.phone()
	s := g.confirmedBy(phone)
	if v := g.onlyCode(); v.State != store.CodeIssued || !v.Expires.IsZero() || v.Client != "wx" || v.Dialect != store.DialectVariantB {
		t.Errorf("after the confirmation: %+v", v)
	}
	g.pass(4 * time.Minute)
	code := s.wantState(405)
	if v := g.aCode(code); !v.Expires.Equal(g.now().Add(time.Minute)) {
		t.Errorf("it lives until %v, now is %v", v.Expires, g.now())
	}
	g.pass(59 * time.Second)
	if a := g.exchange(s.wantState(405)); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	t.Run("and a wrong number makes none", func(t *testing.T) {
		g := newQREndRig(t)
		phone, s := g.phone(), g.scanPage(wxRequest())
		phone.submit(phone.scan(s), "number", "07", "decision", "confirm")
		if n := g.count(store.KindCode, "u1"); n != 0 {
			t.Errorf("%d codes", n)
		}
		s = g.scanPage(wxRequest())
		phone.submit(phone.scan(s), "decision", "deny")
		if n := g.count(store.KindCode, "u1"); n != 0 {
			t.Errorf("%d codes", n)
		}
	})
}
