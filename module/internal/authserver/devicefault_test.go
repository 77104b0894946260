package authserver_test

import (
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/store"
)

// eachDeviceFault is sweepFaults for the steps of a device; besides, a 503 sets no cookie.
func eachDeviceFault(t *testing.T, step func(*tokenRig) (run func() page, good func(page), then func())) {
	t.Helper()
	sweepFaults(t, func(t *testing.T) sweptStep {
		g := newDeviceRig(t)
		run, good, then := step(g)
		return sweptStep{g, func() page {
			p := run()
			if p.status >= 500 && (p.status != http.StatusServiceUnavailable || len(p.set) > 0) {
				t.Fatalf("%d %v %s", p.status, p.header, p.body)
			}
			return p
		}, func(p page, _ bool) { good(p) }, then}
	})
}

// asPage is for steps that are no pages.
func asPage(a answer) page { return page{status: a.status, header: a.header, body: a.body} }

func (g *tokenRig) wantStatus(status int) func(page) {
	return func(p page) {
		g.t.Helper()
		if p.status != status {
			g.t.Fatalf("%d %s", p.status, p.body)
		}
	}
}

func TestFaultDuringDeviceRequestLeavesNoGrant(t *testing.T) { // E05
	eachDeviceFault(t, func(g *tokenRig) (func() page, func(page), func()) {
		var told []begun
		run := func() page {
			a := g.askDevice(params{"client_id": "tv"})
			if a.status == http.StatusOK {
				told = append(told, begunFrom(g, a))
			}
			return asPage(a)
		}
		return run, g.wantStatus(http.StatusOK), func() {
			if len(told) != 1 {
				g.t.Fatalf("%d devices were told a code", len(told))
			}
			g.decide(g.browser(), told[0], "confirm")
			g.want(g.token(told[0].redeem()), 200, "")
			if n := g.count(store.KindGrant); n != 1 {
				g.t.Errorf("%d families", n)
			}
		}
	})
}

func TestFaultOnCodePagesCostsNoAttempt(t *testing.T) { // E05
	t.Run("the page", func(t *testing.T) {
		eachDeviceFault(t, func(g *tokenRig) (func() page, func(page), func()) {
			b, _ := g.atDevice("ann")
			return func() page { return b.get(deviceAddress) }, g.wantStatus(http.StatusOK), func() {}
		})
	})
	t.Run("a code", func(t *testing.T) {
		eachDeviceFault(t, func(g *tokenRig) (func() page, func(page), func()) {
			d := g.device(nil)
			b, p := g.atDevice("ann")
			for range 9 {
				b.submit(p, "user_code", "BBBB-BBBB")
			}
			return func() page { return b.submit(p, "user_code", d.UserCode) }, g.wantStatus(http.StatusSeeOther), func() {
				b.submit(p, "user_code", "BBBB-BBBB") // the tenth wrong one is judged
				if got := b.submit(p, "user_code", d.UserCode); got.status != http.StatusTooManyRequests {
					g.t.Errorf("%d after ten wrong codes", got.status)
				}
			}
		})
	})
	t.Run("the page that asks", func(t *testing.T) {
		eachDeviceFault(t, func(g *tokenRig) (func() page, func(page), func()) {
			d := g.device(nil)
			b, p := g.atDevice("ann")
			to := "https://id.example" + b.submit(p, "user_code", d.UserCode).header.Get("Location")
			return func() page { return b.get(to) }, g.wantStatus(http.StatusOK), func() {
				g.decide(b, d, "confirm")
				g.want(g.token(d.redeem()), 200, "")
			}
		})
	})
}

// What is answered 503 may have been decided or not, but never half: the device waits on, or
// gets what was said, and the same form said again comes to the same.
func TestFaultLeavesNoPartialDecision(t *testing.T) { // E05
	t.Run("confirm", func(t *testing.T) {
		eachDeviceFault(t, func(g *tokenRig) (func() page, func(page), func()) {
			d, b := g.device(nil), g.browser()
			asked := b.devicePage(d)
			return func() page { return b.submit(asked, "decision", "confirm") }, func(p page) { g.isDone(p, "confirmed") }, func() {
				g.want(g.token(d.redeem()), 200, "")
				if codes, families := g.count(store.KindCode), g.count(store.KindGrant); codes != 1 || families != 1 {
					g.t.Errorf("%d codes, %d families", codes, families)
				}
			}
		})
	})
	t.Run("deny", func(t *testing.T) {
		eachDeviceFault(t, func(g *tokenRig) (func() page, func(page), func()) {
			d, b := g.device(nil), g.browser()
			asked := b.devicePage(d)
			return func() page { return b.submit(asked, "decision", "deny") }, func(p page) { g.isDone(p, "denied") }, func() {
				g.want(g.token(d.redeem()), 400, "access_denied")
				if n := g.count(store.KindCode); n != 0 {
					g.t.Errorf("%d codes", n)
				}
			}
		})
	})
	t.Run("confirm, then deny instead", func(t *testing.T) {
		for n := 1; n <= 12; n++ {
			g := newDeviceRig(t)
			d, b := g.device(nil), g.browser()
			asked := b.devicePage(d)
			g.store.plan(n, forever, false, errLost)
			said := b.submit(asked, "decision", "confirm")
			g.store.plan(0, 0, false, nil)
			if said.status != http.StatusServiceUnavailable {
				g.isDone(said, "confirmed")
				continue
			}
			g.want(g.token(d.redeem()), 400, "authorization_pending")
			g.isDone(b.submit(asked, "decision", "deny"), "denied")
			g.want(g.token(d.redeem()), 400, "access_denied")
		}
	})
}

func TestPollFaultDoesNotCountAsAPoll(t *testing.T) { // T24, E05
	eachDeviceFault(t, func(g *tokenRig) (func() page, func(page), func()) {
		d := g.device(nil)
		return func() page { return asPage(g.token(d.redeem())) },
			func(p page) {
				if p.status != 400 || p.body == "" {
					g.t.Fatalf("%d %s", p.status, p.body)
				}
			},
			func() { g.want(g.token(d.redeem()), 400, "slow_down") } // the fault was no poll: this is the second
	})
}

// Neither is a device_code lost by a fault, nor does it issue twice.
func TestStoreFaultNeitherLosesNorDoublesADeviceCode(t *testing.T) { // T24, E05
	for name, by := range map[string]params{
		"with a refresh token": {"client_id": "tv"}, "without": {"client_id": "box", "client_secret": webSecret, "scope": "read"},
	} {
		t.Run(name, func(t *testing.T) {
			eachFault(t, func(*authserver.Config) {},
				func(g *tokenRig) params {
					g.addDevices()
					d := g.device(by)
					g.decide(g.browser(), d, "confirm")
					return d.redeem().with("client_id", by["client_id"]).with("client_secret", by["client_secret"])
				},
				func(g *tokenRig, p params, a answer) {
					if n := g.count(store.KindGrant); n != 1 {
						g.t.Errorf("%d families", n)
					}
					g.want(g.token(p), 400, "invalid_grant")
					if g.alive(a.tokens.Access) {
						g.t.Error("the replay killed nothing")
					}
				})
		})
	}
}
