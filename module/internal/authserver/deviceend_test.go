package authserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func refreshTV(a answer) params {
	return params{"grant_type": "refresh_token", "refresh_token": a.tokens.Refresh, "client_id": "tv"}
}

// newDeviceEndRig is an endRig with devices.
func newDeviceEndRig(t *testing.T) *endRig {
	t.Helper()
	var users *directorytest.Memory
	g := newEndRig(t, func(c *authserver.Config) { users, _ = c.Directory.(*directorytest.Memory) })
	g.users = users
	g.addDevices()
	return g
}

// signedInDevice is what tv got, and the browser of ann, who allowed it.
func (g *endRig) signedInDevice() (*tab, begun, answer) {
	g.t.Helper()
	b, d := g.browser(), g.device(nil)
	g.decide(b, d, "confirm")
	return b, d, g.want(g.token(d.redeem()), 200, "")
}

func (g *endRig) isDeadDevice(a answer) {
	g.t.Helper()
	if g.alive(a.tokens.Access) {
		g.t.Error("the access token lives")
	}
	g.want(g.token(refreshTV(a)), 400, "invalid_grant")
}

// C02: at any time, as long as anything lives that was issued.
func TestDeviceCodeReplayEndsItsGrant(t *testing.T) {
	for name, later := range map[string]time.Duration{
		"at once": 0, "when its ticket has expired": 11 * time.Minute, "when there is no ticket any more": 21 * time.Minute, "days later": 5 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			g := newDeviceEndRig(t)
			_, d, first := g.signedInDevice()
			second := g.want(g.token(refreshTV(first)), 200, "")
			g.pass(later)
			// Who cannot answer for it ends nothing.
			g.want(g.token(d.redeem().with("client_id", "box").with("client_secret", webSecret)), 400, "invalid_grant")
			g.want(g.token(d.redeem().with("client_id", "app")), 400, "unauthorized_client")
			third := g.want(g.token(refreshTV(second)), 200, "")
			g.want(g.token(d.redeem()), 400, "invalid_grant")
			g.isDeadDevice(third)
			if n := len(g.trail.of(audit.CodeReuse)); n != 1 {
				t.Errorf("%d events of reuse", n)
			}
			g.want(g.token(d.redeem()), 400, "invalid_grant")
		})
	}
}

// What is left of a code when its ticket is gone redeems nothing, whoever kept it.
func TestNothingIsRedeemedWithoutATicket(t *testing.T) {
	g := newDeviceEndRig(t)
	d := g.device(nil)
	g.decide(g.browser(), d, "confirm")
	id, _, _ := strings.Cut(d.DeviceCode, ".")
	g.must(g.store.Memory.Delete(t.Context(), store.Key{Kind: store.KindTicket, ID: id}))
	g.want(g.token(d.redeem()), 400, "invalid_grant")
	if n := g.count(store.KindGrant, "u1"); n != 0 {
		t.Errorf("%d families", n)
	}
}

func TestDeviceGrantEndsLikeAnyOther(t *testing.T) {
	for name, end := range map[string]func(*endRig, *tab, answer){
		"by its client": func(g *endRig, _ *tab, a answer) {
			g.revoked(g.revoke(params{"token": a.tokens.Refresh, "client_id": "tv"}))
		},
		"by a sign-out of all":      func(g *endRig, _ *tab, _ answer) { g.endAnn() },
		"by the deletion of a user": func(g *endRig, _ *tab, _ answer) { g.must(g.server.ForgetSubject(g.t.Context(), "u1")) },
		"by an administrator, of the client": func(g *endRig, _ *tab, _ answer) {
			g.must(g.server.EndClient(g.t.Context(), "u1", "tv"))
		},
		"by an administrator, of the grant": func(g *endRig, _ *tab, _ answer) {
			g.eachGrantOf("u1", func(v store.Grant) { g.must(g.server.EndGrant(g.t.Context(), "u1", v.ID)) })
		},
		"on the account page": func(g *endRig, b *tab, _ answer) {
			p := g.account(b)
			buttons := p.buttons("withdraw")
			if !strings.Contains(p.body, "Living room") || len(buttons) != 1 {
				g.t.Fatalf("the device is not there: %s", p.body)
			}
			b.submit(p, "withdraw", buttons[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newDeviceEndRig(t)
			b, d, a := g.signedInDevice()
			end(g, b, a)
			g.isDeadDevice(a)
			g.want(g.token(d.redeem()), 400, "invalid_grant")
		})
	}
}

// What ends between the confirmation and the next poll.
func TestWithdrawnConfirmationGivesTheDeviceNothing(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(*endRig)
		status int
		code   string
	}{
		"the user signs out everywhere":       {(*endRig).endAnn, 400, "invalid_grant"},
		"the user is deleted":                 {func(g *endRig) { g.must(g.server.ForgetSubject(g.t.Context(), "u1")) }, 400, "invalid_grant"},
		"the user is gone from the directory": {func(g *endRig) { g.users.Remove("u1") }, 400, "invalid_grant"},
		"the user is locked":                  {func(g *endRig) { g.users.SetLocked("u1", true) }, 400, "invalid_grant"},
		"the client is withdrawn":             {func(g *endRig) { g.must(g.server.EndClient(g.t.Context(), "u1", "tv")) }, 400, "invalid_grant"},
		"the client is deleted":               {func(g *endRig) { g.clients.remove("tv") }, 401, "invalid_client"},
		"the client is another of that id": {func(g *endRig) {
			g.clients.change("tv", func(c *oauth.Client) { c.Since = g.now().Add(time.Nanosecond) })
		}, 400, "invalid_grant"},
		"the client left the configuration and came back": {func(g *endRig) {
			g.must(store.RecordVanished(g.t.Context(), g.store, "tv", g.now()))
		}, 400, "invalid_grant"},
		"the client may not use the grant": {func(g *endRig) {
			g.clients.change("tv", func(c *oauth.Client) { c.Grants = []oauth.GrantType{oauth.RefreshToken} })
		}, 400, "unauthorized_client"},
		"the client may have none of the scopes": {func(g *endRig) {
			g.clients.change("tv", func(c *oauth.Client) { c.Scopes, c.DefaultScopes = []string{"write"}, nil })
		}, 400, "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newDeviceEndRig(t)
			d := g.device(nil)
			g.decide(g.browser(), d, "confirm")
			c.end(g)
			for range 2 {
				g.want(g.token(d.redeem()), c.status, c.code)
			}
			if n := g.count(store.KindGrant, "u1"); n != 0 {
				t.Errorf("%d families", n)
			}
		})
	}
}

// onlyCode is the one code of ann.
func (g *endRig) onlyCode() store.Code {
	g.t.Helper()
	all := codesOf(g.t, g.store.Memory, "u1")
	if len(all) != 1 {
		g.t.Fatalf("%d codes", len(all))
	}
	return all[0]
}

// Whenever it comes: before the code is there, before the decision, after it.
func TestSignOutDuringDeviceConfirmationLeavesNothing(t *testing.T) { // U19
	for n, more := 1, true; more; n++ {
		g := newDeviceEndRig(t)
		d, b := g.device(nil), g.browser()
		asked := b.devicePage(d)
		codes := 0 // when it came
		g.cut.arm(n, func() {
			codes = len(codesOf(g.t, g.store.Memory, "u1"))
			g.endAnn()
		})
		said := b.submit(asked, "decision", "confirm")
		more = g.cut.fired()
		if !more {
			g.endAnn()
		}
		if more && codes == 0 && strings.Contains(said.body, "Confirmed") {
			t.Errorf("before operation %d: the page says that the device is signed in", n)
		}
		for range 3 {
			if a := g.token(d.redeem()); a.status == 200 {
				t.Fatalf("before operation %d: the device is signed in", n)
			}
			g.pass(6 * time.Second)
		}
		for _, v := range codesOf(g.t, g.store.Memory, "u1") {
			ended, err := ending.Ended(t.Context(), g.store, v.Subject, v.Client, v.Epochs)
			g.must(err)
			if v.State == store.CodeIssued && !ended {
				t.Errorf("before operation %d: the code is left, for whoever confirms the ticket", n)
			}
		}
	}
}

// The same during the redemption: what is issued is dead, or nothing is.
func TestSignOutDuringDeviceRedemptionLeavesNothing(t *testing.T) { // U19
	for n, more := 1, true; more; n++ {
		g := newDeviceEndRig(t)
		d := g.device(nil)
		g.decide(g.browser(), d, "confirm")
		g.cut.arm(n, g.endAnn)
		a := g.token(d.redeem())
		if more = g.cut.fired(); !more {
			g.endAnn()
		}
		if a.status == 200 {
			g.isDeadDevice(a)
		}
		g.want(g.token(d.redeem()), 400, "invalid_grant")
	}
}

func TestDeviceAuditTrail(t *testing.T) {
	g := newDeviceEndRig(t)
	_, d, a := g.signedInDevice()
	denied := g.device(nil)
	g.decide(g.browser(), denied, "deny")
	for name, want := range map[audit.Name]int{audit.TicketScanned: 2, audit.TicketConfirmed: 1, audit.TicketDenied: 1} {
		if n := g.trail.count(name, "device"); n != want {
			t.Errorf("%d events %s, want %d", n, name, want)
		}
	}
	if n := g.trail.count(audit.Issue, deviceGrant); n != 1 {
		t.Errorf("%d tokens were issued", n)
	}
	for _, line := range []string{g.log.String(), strings.Join(g.metrics.all(), "\n")} {
		for _, secret := range []string{d.DeviceCode, strings.Split(d.DeviceCode, ".")[1], d.UserCode, strings.ReplaceAll(d.UserCode, "-", ""), a.tokens.Access, a.tokens.Refresh} {
			if strings.Contains(line, secret) {
				t.Errorf("a secret is in %s", line)
			}
		}
	}
}
