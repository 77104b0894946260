package soak

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// waits is what the screens of a test hear while all of them hang.
type waits struct {
	stopped atomic.Bool
	wg      sync.WaitGroup
	heard   map[*screen]chan heard
}

// heard is an answer that is not "ask again".
type heard struct {
	state int
	code  string
	at    time.Time
}

// hang has each screen poll as the page's script does, until it has an end or is hung up.
func hang(t *testing.T, screens []*screen) *waits {
	t.Helper()
	w := &waits{heard: make(map[*screen]chan heard, len(screens))}
	for _, b := range screens {
		w.heard[b] = make(chan heard, 2)
		w.wg.Go(func() {
			for last := "408"; ; {
				a, err := b.poll(last)
				at := time.Now()
				if err != nil && w.stopped.Load() {
					return
				}
				state, code, bad := pollState(a)
				if err := errors.Join(err, bad); err != nil {
					t.Error("a poll that hangs:", err)
					return
				}
				switch state {
				case http.StatusRequestTimeout, http.StatusNotFound:
					if state == http.StatusNotFound && last != "404" {
						last = "404"
						w.heard[b] <- heard{state, code, at}
					}
				default:
					w.heard[b] <- heard{state, code, at}
					return
				}
			}
		})
	}
	return w
}

// hears waits for what a screen is told, a state and how long after a moment.
func (w *waits) hears(t *testing.T, b *screen, state int, since time.Time) (heard, time.Duration) {
	t.Helper()
	select {
	case h := <-w.heard[b]:
		if h.state != state {
			t.Fatalf("the poll says %d, expected %d", h.state, state)
		}
		return h, h.at.Sub(since)
	case <-time.After(10 * time.Second):
		t.Fatalf("the poll that waits for %d is not answered", state)
	}
	panic("unreachable")
}

// hangUp closes all the connections, as browsers do whose people have gone.
func (w *waits) hangUp(screens []*screen) {
	w.stopped.Store(true)
	for _, b := range screens {
		b.hangUp()
	}
	w.wg.Wait()
}

const waitingPolls = "caddy_gatehouse_polls_waiting"

// allHang waits until so many polls hang.
func (s *site) allHang(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		now := int(s.Metric(t, waitingPolls))
		if now == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d polls hang, expected %d", now, n)
		}
	}
}

// The waiters that there may be by default, but for those of addresses that have none.
const mostWaiting = 5000

// B29, B31 and the bounds of what waiting costs: a poll that hangs costs little more than
// the connection that it hangs on, one more than there may be is refused at once, who is
// confirmed hears of it among all the others, and nothing stays of those who leave.
func TestPollsThatHangAreCheapAndEndWithTheirBrowsers(t *testing.T) {
	collectOften(t)
	s := newSite(t)
	config := s.config("$CLIENTS", portal)
	p := s.Run(t, config)
	phone := s.phone(t)
	n := times(500, mostWaiting)
	begun := time.Now()
	screens := s.screens(t, 0, n)
	t.Logf("%d tickets in %v", n, time.Since(begun).Round(time.Millisecond))
	// What making them has left free would hide what is measured: another process goes on.
	p.Stop()
	p = s.Run(t, config)
	s.warm(t)
	bare := s.settled(t, 0)
	for _, b := range screens {
		b.again(t)
	}
	idle := s.footprint(t, p.PID())
	connected := s.goroutines(t)

	begun = time.Now()
	w := hang(t, screens)
	s.allHang(t, n)
	t.Logf("%d polls hang after %v; %d MiB resident at once", n, time.Since(begun).Round(time.Millisecond), residentMemory(t, p.PID())>>20)
	busy := s.footprint(t, p.PID())
	each := busy.above(idle, n)
	t.Logf("%d idle connections: %v; the same hanging: %v; each, above an idle connection: %v; goroutines %d, %d, %d",
		n, idle, busy, each, bare, connected, s.goroutines(t))
	if max(each.resident, each.heap+each.stacks) > 32<<10 {
		t.Errorf("a poll that hangs costs %v, at most 32 KiB are accepted", each)
	}
	if n == mostWaiting {
		s.oneTooMany(t)
	}

	var scanned, confirmed []time.Duration
	for i := range 20 {
		b := screens[i*n/20]
		at := time.Now()
		asks := b.scan(t, phone)
		_, took := w.hears(t, b, 404, at)
		scanned = append(scanned, took)
		at = time.Now()
		b.confirm(t, phone, asks)
		h, took := w.hears(t, b, 405, at)
		confirmed = append(confirmed, took)
		if h.code == "" {
			t.Error("no code")
		}
	}
	slices.Sort(scanned)
	slices.Sort(confirmed)
	t.Logf("among %d that hang the one who is scanned hears of it within p50 %v, at most %v, of the confirmation within p50 %v, at most %v",
		n, scanned[10], scanned[19], confirmed[10], confirmed[19])
	if longest := max(scanned[19], confirmed[19]); longest > time.Second {
		t.Errorf("it took %v to hear", longest)
	}

	begun = time.Now()
	w.hangUp(screens)
	for s.Metric(t, waitingPolls) > 0 {
		if time.Since(begun) > time.Second {
			t.Fatalf("%v polls still hang", s.Metric(t, waitingPolls))
		}
	}
	left := time.Since(begun)
	s.plain.CloseIdleConnections()
	after := s.settled(t, bare+5)
	if after > bare+5 {
		t.Errorf("%d goroutines, %d before: %.6000s", after, bare, s.profile(t))
	}
	t.Logf("no poll hangs %v after the browsers left; goroutines %d before, %d after %v", left.Round(time.Millisecond), bare, after, time.Since(begun).Round(time.Millisecond))
	if out := p.Output(); strings.Contains(out, "panic") {
		t.Error(out)
	}
	p.Stop()
}

// warm has made what is made once, and waits until what is only made for a while is gone.
func (s *site) warm(t *testing.T) {
	t.Helper()
	few := s.screens(t, 4000, 16)
	w := hang(t, few)
	s.allHang(t, len(few))
	w.hangUp(few)
	s.allHang(t, 0)
	_ = s.profile(t)
	s.plain.CloseIdleConnections()
	time.Sleep(2500 * time.Millisecond) // polls are listened for a little longer than they last
}

// oneTooMany polls when as many hang as may.
func (s *site) oneTooMany(t *testing.T) {
	t.Helper()
	var took []time.Duration
	more := s.screens(t, 8000, 100)
	// An address that has none gets one place more; that is not for its other screens.
	var newcomers []*screen
	for i := 0; i < len(more); i += perAddress {
		newcomers = append(newcomers, more[i])
	}
	w := hang(t, newcomers)
	s.allHang(t, mostWaiting+len(newcomers))
	defer s.allHang(t, mostWaiting)
	defer w.hangUp(newcomers)
	for i, b := range more {
		if i%perAddress == 0 {
			continue
		}
		at := time.Now()
		a, err := b.poll("408")
		took = append(took, time.Since(at))
		if err != nil || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
			t.Fatal("one more than there may be:", a, err)
		}
		b.hangUp()
	}
	slices.Sort(took)
	t.Logf("one more than there may be is refused within p50 %v, at most %v", took[len(took)/2], took[len(took)-1])
	if longest := took[len(took)-1]; longest > 10*time.Millisecond {
		t.Errorf("a refusal took %v", longest)
	}
}
