package cluster

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// impatient leaves the store and the limiter their own times.
var impatient = []string{"\t\t\ttimeout $PATIENCE\n\t\t}\n\t\tlimiter", "\t\t}\n\t\tlimiter", "{\n\t\t\ttimeout $PATIENCE\n\t\t}\n\t\tusers", "\n\t\tusers"}

// The store is away while polls hang: they end with 503 and no word about the ticket, those
// asked meanwhile too, and when it is back the next one goes on where the last one ended.
func TestPollsOutliveAnOutageOfTheirStore(t *testing.T) {
	for name, begin := range map[string]func(*redistest.Proxy){
		"connections are refused": (*redistest.Proxy).Reset, "nothing answers": (*redistest.Proxy).Blackhole,
	} {
		t.Run(name, func(t *testing.T) {
			proxy := redistest.NewProxy(t, redistest.Shared(t).Addr)
			p := withPortal()
			p.url, p.change = proxy.URL(), append(p.change, impatient...)
			c := start(t, p)
			a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
			phone, pending, scanned := c.phone(t, a, "127.16.0.1"), c.screen(t, b, "127.16.0.2"), c.screen(t, b, "127.16.0.3")
			asks := phone.scan(t, scanned)
			polls := []<-chan hearing{pending.hangs(t, "408"), scanned.poll("404")}
			waitPolls(t, b, 2)

			at := time.Now()
			begin(proxy)
			for _, poll := range polls {
				h := <-poll
				if took := h.at.Sub(at); h.err != nil || !h.away || took > 3*time.Second {
					t.Errorf("the poll that hung says %+v after %v", h, took)
				}
			}
			var slowest time.Duration
			for _, n := range c.nodes {
				sent := time.Now()
				if h := scanned.ask(scanned.via(n), "404"); h.err != nil || !h.away {
					t.Errorf("a poll without a store says %+v", h)
				}
				slowest = max(slowest, time.Since(sent))
			}
			if slowest > told {
				t.Errorf("somebody was told after %v that the store is away", slowest)
			}
			for what, page := range map[string]harness.Page{
				"a new code": scanned.Get(c.issuer + "/connect/qrconnect?" + portalRequest("snsapi_login")),
				"a scan":     phone.Get(pending.confirmAddress()),
				"a decision": phone.Submit(asks, url.Values{"decision": {"confirm"}, "number": {scanned.number}}),
			} {
				if page.Status != http.StatusServiceUnavailable || page.Header.Get("Retry-After") == "" {
					t.Errorf("%s without a store: %d %.300s", what, page.Status, page.Body)
				}
			}

			proxy.Heal()
			healed := time.Now()
			pending.at = d
			if h := pending.untilServed(t, "404"); h.state != 408 {
				t.Errorf("the ticket that nobody scanned: %+v", h)
			}
			back := time.Since(healed)
			asksNow := phone.scanWhenServed(t, pending)
			poll := pending.hangs(t, "404")
			at = time.Now()
			phone.confirm(t, pending, asksNow)
			v, heard := within(t, poll, 405, at)
			if got, err := c.redeem(a, v.code); err != nil || got.field("openid") == "" {
				t.Error("the code:", got, err)
			}
			// What the person sent into the outage may have arrived late, and counts then.
			phone.decideWhenServed(t, scanned, asks)
			if h := scanned.untilServed(t, "404"); h.state != 405 || h.code == "" {
				t.Errorf("the ticket that was scanned before: %+v", h)
			}
			t.Logf("told of the outage within %v; polls are served %v after it, and hear within %v again", slowest, back, heard)
		})
	}
}

// The primary is killed between a scan and its decision, after a decision, after the code was
// told, and after it was redeemed. With a write concern each of them stands.
func TestTicketsOutliveThePrimaryOfTheirRedis(t *testing.T) {
	s := redistest.StartSentinel(t)
	p := withPortal()
	p.url, p.change = s.URL(), append(p.change, impatient...)
	p.change = append(p.change, "prefix $PREFIX", "prefix $PREFIX\n\t\t\treplicas 1")
	c := start(t, p)
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	for range times(1, 5) {
		phone := c.phone(t, a, "127.17.0.1")
		var at [4]struct {
			*screen
			asks harness.Page
			code string
		}
		for i := range at {
			at[i].screen = c.screen(t, b, "127.17.0.2")
			at[i].asks = phone.scan(t, at[i].screen)
			if i > 0 {
				phone.confirm(t, at[i].screen, at[i].asks)
			}
			if i > 1 {
				at[i].code = at[i].untilServed(t, "404").code
			}
		}
		if got, err := c.redeem(d, at[3].code); err != nil || got.field("openid") == "" {
			t.Fatal("the code:", got, err)
		}
		poll := at[0].hangs(t, "404")
		killed := s.KillPrimary()
		begun := time.Now()
		s.WaitPromoted(killed)
		s.Rejoin(killed)
		promoted := time.Since(begun)
		// The poll that hung may have been told of the outage, as its script may be each time
		// that it asks again, and of nothing else.
		select {
		case h := <-poll:
			if h.err != nil || !h.away {
				t.Errorf("the poll that hung says %+v", h)
			}
			for _, n := range c.nodes {
				if h := at[0].untilServedBy(t, at[0].via(n), "408"); h.state != 404 {
					t.Error("the ticket is not scanned any more")
				}
			}
			poll = at[0].hangs(t, "404")
		default:
		}
		decided := time.Now()
		phone.decideWhenServed(t, at[0].screen, at[0].asks)
		v, heard := within(t, poll, 405, time.Now())
		t.Logf("a replica again after %v; the decision is taken %v later, its poll hears within %v", promoted.Round(time.Millisecond), time.Since(decided).Round(time.Millisecond), heard)
		at[0].code = v.code
		for i, ticket := range at {
			h := ticket.untilServed(t, "404")
			if i < 3 && (h.state != 405 || h.code == "" || ticket.code != "" && h.code != ticket.code) || i == 3 && h.code != "" {
				t.Errorf("ticket %d, after its code was %q: %+v", i, ticket.code, h)
			}
			got, err := c.redeem(a, h.code)
			if i == 3 {
				got, err = c.redeem(a, ticket.code)
			}
			if err != nil || (got.field("openid") != "") != (i < 3) || i == 3 && got.errcode() != 40163 {
				t.Errorf("the code of ticket %d: %v, %v", i, got, err)
			}
		}
	}
}

// waitPolls waits until so many polls hang at a node.
func waitPolls(t *testing.T, at *node, n float64) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); at.Metric(t, "caddy_gatehouse_polls_waiting") < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("fewer than %v polls hang", n)
		}
	}
}

// soon tries until it succeeds, as whoever is told to come again does.
func soon(t *testing.T, what string, try func() (done bool)) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !try(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not served again", what)
		}
	}
}

// untilServed asks until the store is there, where the screen is. What it says differs from
// last, or this takes as long as a poll hangs.
func (s *screen) untilServed(t *testing.T, last string) hearing {
	t.Helper()
	return s.untilServedBy(t, s.device, last)
}

func (s *screen) untilServedBy(t *testing.T, at *device, last string) (h hearing) {
	t.Helper()
	soon(t, "a poll", func() bool {
		h = s.ask(at, last)
		if h.err != nil {
			t.Fatalf("a poll says %+v: %v", h, h.err)
		}
		return !h.away
	})
	return h
}

func (d *device) scanWhenServed(t *testing.T, s *screen) (p harness.Page) {
	t.Helper()
	soon(t, "a scan", func() bool {
		p = d.Get(s.confirmAddress())
		return p.Status != http.StatusServiceUnavailable
	})
	if !strings.Contains(p.Body, `name="number"`) {
		t.Fatalf("no page that asks: %d %.600s", p.Status, p.Body)
	}
	return p
}

func (d *device) decideWhenServed(t *testing.T, s *screen, asks harness.Page) {
	t.Helper()
	soon(t, "a decision", func() bool {
		p := d.Submit(asks, url.Values{"decision": {"confirm"}, "number": {s.number}})
		if p.Status != http.StatusServiceUnavailable && !strings.Contains(p.Body, "<h1>Confirmed</h1>") {
			t.Fatalf("not confirmed: %d %.600s", p.Status, p.Body)
		}
		return p.Status == http.StatusOK
	})
}
