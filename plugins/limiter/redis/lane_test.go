package redis

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// parked is a lane whose flights have all left, so that everybody waits.
func parked(t *testing.T) *lane {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1})
	return &lane{source: s, limiter: "l", flights: maxFlights}
}

func (l *lane) wait(t *testing.T, charges ...ratelimit.Charge) *call {
	t.Helper()
	c := &call{ask: newAsk("", &ratelimit.Request{Charges: charges}, room{}), done: make(chan outcome, 1)}
	if own, err := l.join(c); err != nil || own != nil {
		t.Fatal(own, err)
	}
	return c
}

func TestABatchHasAtMost64GroupsAnd128KeysAndLikeRequestsAreOneGroup(t *testing.T) {
	l := parked(t)
	for i := range 1000 {
		l.wait(t, one("p", 9, time.Minute, fmt.Sprint(i%100)))
	}
	first := l.take(new(flight))
	if len(first.groups) != 64 || len(first.keys) != 64 || len(l.queue) != 1000-64 {
		t.Fatalf("%d groups, %d keys, %d wait", len(first.groups), len(first.keys), len(l.queue))
	}
	l = parked(t)
	for i := range 100 {
		l.wait(t, one("a", 9, time.Minute, fmt.Sprint(i)), one("b", 9, time.Minute, fmt.Sprint(i)), one("c", 9, time.Minute, fmt.Sprint(i)))
	}
	if b := l.take(new(flight)); len(b.groups) != 42 || len(b.keys) != 126 || len(l.queue) != 58 {
		t.Fatalf("%d groups, %d keys, %d wait", len(b.groups), len(b.keys), len(l.queue))
	}
	l = parked(t)
	for i := range 3000 {
		l.wait(t, one("p", 9, time.Minute, fmt.Sprint(i%3)))
	}
	b := l.take(new(flight))
	if len(b.groups) != 3 || b.groups[2].n != 1000 || len(l.queue) != 0 {
		t.Fatalf("%d groups, %d wait", len(b.groups), len(l.queue))
	}
	l.wait(t, one("p", 9, time.Minute, "s"))
	l.wait(t, one("p", 8, time.Minute, "s"))
	if b := l.take(new(flight)); len(b.groups) != 2 || len(b.keys) != 1 {
		t.Fatalf("%d groups, %d keys under two limits", len(b.groups), len(b.keys))
	}
	if l.take(new(flight)) != nil || l.flights != maxFlights-1 {
		t.Fatal("a flight does not end when nobody waits")
	}
}

func TestWhoGaveUpIsNotCharged(t *testing.T) {
	l := parked(t)
	gone, here := l.wait(t, one("p", 9, time.Minute, "gone")), l.wait(t, one("p", 9, time.Minute, "here"))
	l.leave(gone)
	if b := l.take(new(flight)); len(b.groups) != 1 || b.groups[0].calls[0] != here {
		t.Fatal("the batch has who gave up")
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	l := parked(t)
	calls := make([]*call, maxQueue)
	for i := range calls {
		calls[i] = l.wait(t, one("p", 9, time.Minute, "s"))
	}
	extra := &call{ask: calls[0].ask, done: make(chan outcome, 1)}
	if _, err := l.join(extra); !errors.Is(err, errOverflow) {
		t.Fatalf("%v", err)
	}
	l.leave(calls[17])
	if _, err := l.join(extra); err != nil || len(l.queue) != maxQueue {
		t.Fatalf("%v: who gave up still takes room", err)
	}
}

func TestNobodyWaitsWhenTheBreakerOpens(t *testing.T) {
	l := parked(t)
	flights := make([]*flight, failuresInARow)
	for i := range flights {
		c := l.wait(t, one("p", 9, time.Minute, fmt.Sprint(i)))
		flights[i] = new(flight)
		l.take(flights[i])
		l.flights = maxFlights
		_ = c
	}
	queued := l.wait(t, one("p", 9, time.Minute, "s"))
	for _, f := range flights {
		l.land(f, time.Now(), errors.New("gone"))
	}
	select {
	case out := <-queued.done:
		if !errors.Is(out.err, errOpen) {
			t.Fatal(out.err)
		}
	default:
		t.Fatal("it still waits")
	}
	if _, err := l.join(queued); !l.opened.Load() || l.fault() == nil || !errors.Is(err, errOpen) {
		t.Fatal("the breaker is not open")
	}
}

func TestAFlightThatIsLateIsAFailureBeforeItEndsAndOnlyOnce(t *testing.T) {
	l := parked(t)
	var ahead time.Duration
	l.source.clock = func() time.Time { return time.Now().Add(ahead) }
	hurried, first, second := l.wait(t, one("p", 9, time.Minute, "s")), l.wait(t, one("p", 9, time.Minute, "s")), l.wait(t, one("p", 9, time.Minute, "s"))
	f := new(flight)
	l.take(f)
	if l.leave(hurried); l.breaker.row != 0 { // his caller went away
		t.Fatal("it is not late yet")
	}
	ahead = patient
	if l.leave(first); l.breaker.row != 1 {
		t.Fatal("a request has waited in vain, and that is no failure")
	}
	l.leave(second)
	l.land(f, l.source.clock(), errors.New("gone"))
	if l.breaker.row != 1 {
		t.Fatalf("%d failures, want 1", l.breaker.row)
	}
	f = new(flight)
	l.wait(t, one("p", 9, time.Minute, "s"))
	l.take(f)
	if l.land(f, f.sent.Add(patient+1), nil); l.breaker.row != 2 {
		t.Fatal("what came too late for a request is no failure")
	}
	f = new(flight)
	l.wait(t, one("p", 9, time.Minute, "s"))
	l.take(f)
	if l.land(f, f.sent.Add(patient), nil); l.breaker.row != 0 {
		t.Fatal("what came in time is a failure")
	}
}

func TestLanesOfLimitersThatAreGoneAreForgotten(t *testing.T) {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1})
	for i := range 10 * maxIdleLanes {
		s.lane(fmt.Sprint(i))
	}
	if len(s.lanes) > maxIdleLanes {
		t.Fatalf("%d lanes", len(s.lanes))
	}
}

func TestTheBreakerOpens(t *testing.T) {
	at := time.Now()
	for name, c := range map[string]struct {
		calls string // f failed, s succeeded, . 100 ms later
		open  bool
	}{
		"after five failures in a row":                {"fffff", true},
		"not after four":                              {"ffff", false},
		"not when one in between succeeds":            {"ffffsffff", false},
		"when half of a second's calls fail":          {"fsfsfsfsfsf", true},
		"not when fewer do":                           {"ssfssfssfssfssfssf", false},
		"when all there were in a second fail":        {"f..........f", true},
		"not when there was a success in that second": {"f.....s.....f", false},
	} {
		var b breaker
		now := at
		for _, x := range c.calls {
			switch x {
			case 'f':
				b.fail(now)
			case 's':
				b.succeed(now)
			default:
				now = now.Add(100 * time.Millisecond)
			}
		}
		if b.open != c.open {
			t.Errorf("%s: open = %v", name, b.open)
		}
		if b.close(); b.open || b.row != 0 {
			t.Errorf("%s: does not close", name)
		}
	}
}
