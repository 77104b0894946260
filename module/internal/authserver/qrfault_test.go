package authserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// The right number is right at the second try too when the store was away at the first, and
// what is confirmed can be delivered.
func TestFaultLeavesNoPartialScanConfirmation(t *testing.T) { // E05
	eachDeviceFault(t, func(g *tokenRig) (func() page, func(page), func()) {
		g.addSites()
		s, phone := g.scanPage(wxRequest()), g.phone()
		asks := phone.scan(s)
		run := func() page { return phone.submit(asks, "number", s.number, "decision", "confirm") }
		return run, func(p page) { g.isDone(p, "confirmed") }, func() {
			code := s.wantState(405)
			if v := g.aCode(code); !v.Expires.Equal(g.now().Add(time.Minute)) {
				g.t.Errorf("it lives until %v", v.Expires)
			}
			if n := g.count(store.KindCode); n != 1 {
				g.t.Errorf("%d codes", n)
			}
		}
	})
}

func TestDeliveryFaultLosesNoCode(t *testing.T) { // E05
	eachDeviceFault(t, func(g *tokenRig) (func() page, func(page), func()) {
		g.addSites()
		s := g.confirmed(wxRequest())
		first := g.now()
		run := func() page { p := s.askOf(s.id); g.pass(20 * time.Second); return p }
		return run, func(p page) {
				if p.status != 200 || !strings.Contains(p.body, `"wx_errcode":405`) {
					g.t.Fatalf("%d %s", p.status, p.body)
				}
			}, func() {
				code := s.wantState(405, "last", "404")
				// A minute from the first that was attempted, or from the second.
				if v := g.aCode(code); v.Expires.Before(first.Add(time.Minute)) || v.Expires.After(first.Add(80*time.Second)) {
					g.t.Errorf("it lives until %v", v.Expires)
				}
				if n := g.count(store.KindCode); n != 1 {
					g.t.Errorf("%d codes", n)
				}
				g.pass(time.Minute)
				s.wantState(402)
			}
	})
}
