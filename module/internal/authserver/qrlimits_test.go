package authserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// B27: behind one address there may be thousands.
func TestTicketGuessesDoNotLimitTicketOwners(t *testing.T) {
	g := newQRRig(t)
	s, phone, stranger := g.scanPage(wxRequest()), g.phone(), g.scanPage(wxRequest())
	for range 50 {
		stranger.askOf(secret.ID())
	}
	for _, p := range []page{stranger.askOf(secret.ID()), stranger.askOf(s.id), stranger.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id), phone.get(confirmURL(secret.ID()))} {
		if p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") == "" {
			t.Errorf("%d %s", p.status, p.body)
		}
	}
	s.wantState(408)
	s.show(s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id))
	phone.submit(phone.scan(s), "number", s.number, "decision", "confirm")
	s.wantState(405)
}

// N10: polls are answered under overload too, so what they ask of the store is bounded.
func TestForeignTicketPollsAreLimited(t *testing.T) {
	reads := &readCount{}
	g := newQRRig(t, func(c *authserver.Config) {
		reads.Backend = c.Store
		c.CrossDevice = must(crossdevice.New(crossdevice.Config{Store: reads, Now: c.Now}))
	})
	s, other := g.scanPage(wxRequest()), g.scanPage(wxRequest())
	before := reads.n.Load()
	for range 300 {
		s.askOf(other.id)
	}
	if n := reads.n.Load() - before; n != 240 {
		t.Errorf("the store was read %d times for 300 polls, want 240", n)
	}
}

// readCount counts what is read of a store.
type readCount struct {
	store.Backend
	n atomic.Int64
}

func (r *readCount) Get(ctx context.Context, k store.Key) (store.Record, error) {
	r.n.Add(1)
	return r.Backend.Get(ctx, k)
}

// B28
func TestTicketsFromManyAddressesAreLimited(t *testing.T) {
	g := newQRRig(t)
	b := g.browser()
	long := qrURL(wxRequest().with("state", strings.Repeat("x", 4096))) // counts nine times
	begun := 0
	for i := range 1500 {
		g.from(fmt.Sprintf("198.51.%d.%d", i/200, 1+i%200))
		switch p := b.get(long); {
		case p.status == http.StatusOK:
			begun++
		case p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") == "":
			t.Fatalf("%d %v", p.status, p.header)
		}
	}
	// The last two networks have the newcomers' reserve: 93 units each.
	if want := 12_000/9 + 2*(93/9); begun != want {
		t.Errorf("%d began, want %d", begun, want)
	}
	g.from("203.0.113.1")
	for range 5 { // what is left is less than a long state's
		g.browser().get(qrURL(wxRequest()))
	}
	for _, ip := range []string{"203.0.114.1", "2001:db8::1"} {
		g.from(ip)
		b.show(b.get(qrURL(wxRequest()))) // N06: who had none gets one all the same
	}
	g.pass(time.Minute)
	b.show(b.get(qrURL(wxRequest())))
}

func TestSubresourceLoadStartsNoTicket(t *testing.T) {
	framed := wxRequest().with("appid", "framed").with("login_type", "jssdk")
	for _, c := range []struct {
		as    string
		p     params
		shown bool
	}{
		{"document", wxRequest(), true}, {"", wxRequest(), true}, // "": an old browser
		{"image", wxRequest(), false}, {"script", wxRequest(), false}, {"empty", wxRequest(), false}, {"iframe", wxRequest(), false},
		{"document", framed, true}, {"iframe", framed, true}, {"frame", framed, true}, {"image", framed, false}, {"object", framed, false},
		{"iframe", wxRequest().with("login_type", "jssdk"), false}, // no site may frame it
	} {
		g := newQRRig(t)
		b := g.browser()
		before := g.store.Len()
		for range 30 {
			if p := b.get(qrURL(c.p), "Sec-Fetch-Dest", c.as); !c.shown && p.status != http.StatusForbidden {
				t.Fatalf("%q: %d", c.as, p.status)
			}
		}
		if kept := g.store.Len() > before; kept != c.shown {
			t.Errorf("%q %v: something is stored: %v", c.as, c.p, kept)
		}
		if p := b.get(qrURL(wxRequest())); (p.status == http.StatusOK) == c.shown {
			t.Errorf("%q: the next page is answered with %d", c.as, p.status)
		}
	}
}

// Whoever shows a code of their own on one screen would read there who of the visitors of
// their site is signed in.
func TestCrossSiteLinkBindsNoTicket(t *testing.T) {
	g := newQRRig(t)
	phone := g.phone()
	for _, from := range []string{"cross-site", "same-site"} {
		s := g.scanPage(wxRequest())
		asks := phone.get(confirmURL(s.id), "Sec-Fetch-Site", from)
		if asks.status != http.StatusOK || !strings.Contains(asks.body, `name="user_code"`) || strings.Contains(asks.body, `name="decision"`) {
			t.Fatalf("%s: %d %s", from, asks.status, asks.body)
		}
		s.wantState(408)
		on := phone.submit(asks, "user_code", s.code)
		if on.status != http.StatusSeeOther || !strings.HasSuffix(on.header.Get("Location"), "/connect/confirm?uuid="+s.id) {
			t.Fatalf("%s: %d %v", from, on.status, on.header)
		}
		phone.scan(s)
		s.wantState(404)
		if p := phone.get(confirmURL(s.id), "Sec-Fetch-Site", from); !strings.Contains(p.body, `name="decision"`) { // bound already
			t.Errorf("%s: %d %s", from, p.status, p.body)
		}
	}
	for _, from := range []string{"same-origin", "none"} {
		s := g.scanPage(wxRequest())
		phone.get(confirmURL(s.id), "Sec-Fetch-Site", from)
		s.wantState(404)
	}
}
