package redis

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func TestASecondFlightLeavesWithAFullBatchOrWhenTheFirstTakesLong(t *testing.T) {
	for name, c := range map[string]struct {
		flights, waiting int
		aloft            time.Duration
		leaves           bool
	}{
		"the first leaves at once":           {0, 1, 0, true},
		"few go with the next":               {1, maxGroups - 1, 0, false},
		"a full batch does not wait":         {1, maxGroups, 0, true},
		"nor do few for one that takes long": {1, 1, patient/4 + 1, true},
		"there is no third":                  {2, maxQueue, patient, false},
	} {
		l := parked(t)
		now := time.Now()
		l.flights = c.flights
		for range c.flights {
			l.aloft = append(l.aloft, &flight{sent: now.Add(-c.aloft)})
		}
		if got := l.worth(c.waiting, now); got != c.leaves {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Two connections for what one can do would make batches small.
func TestAFlightThatIsOneTooManyEndsAndLeavesTheQueueToTheOther(t *testing.T) {
	l := parked(t)
	c := l.wait(t, one("p", 9, time.Minute, "s"))
	l.aloft = []*flight{{sent: time.Now()}}
	if b := l.next(new(flight)); b != nil || l.flights != 1 || c.state != waiting {
		t.Fatal(b, l.flights, c.state)
	}
	l.aloft = nil
	if b := l.next(new(flight)); b == nil || c.state != taken {
		t.Fatal("the last flight leaves somebody behind")
	}
}

func TestWhoComesBeforeATripOfSomebodysOwnBeginsIsTakenAlong(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "along:", longestOwn), nodes: 1})
	l := s.lane("l")
	l.landed = s.clock()
	own := &call{ask: newAsk(s.prefix, &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "own")}}, room{}), done: make(chan outcome, 1)}
	f, err := l.join(own)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	other := l.wait(t, one("p", 9, time.Minute, "other"))
	l.flyOnce(f)
	if len(own.done) != 1 || len(other.done) != 1 || l.flights != 0 || len(l.aloft) != 0 {
		t.Fatalf("%d and %d answers, %d flights", len(own.done), len(other.done), l.flights)
	}
}

func TestOneWatcherEndsThePatienceOfAllThatWait(t *testing.T) {
	l := parked(t)
	l.source.patience = 5 * time.Millisecond
	first := l.wait(t, one("p", 9, time.Minute, "s"))
	l.mu.Lock()
	f := new(flight)
	l.load(f)
	l.mu.Unlock()
	second := l.wait(t, one("p", 9, time.Minute, "s"))
	time.Sleep(time.Millisecond)
	third := l.wait(t, one("p", 9, time.Minute, "s"))
	for i, c := range []*call{first, second, third} {
		select {
		case out := <-c.done:
			if !errors.Is(out.err, errOpen) || time.Now().Before(c.due) {
				t.Errorf("call %d: %v, %v too early", i, out.err, time.Until(c.due))
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("call %d waits for ever", i)
		}
	}
	eventually(t, "the flight is judged, and there is nobody left to watch", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return f.judged && l.breaker.row == 1 && !l.watched
	})
	// An answer that comes after all finds nobody, and nothing blocks.
	l.trip(f, f.batch, patient)
	if len(first.done) != 0 || first.state != given {
		t.Fatal("who gave up is answered")
	}
}

func TestACallThatIsUsedAgainIsThatOfItsRequestAlone(t *testing.T) {
	long := &ratelimit.Request{Cost: 7, Charges: []ratelimit.Charge{one("a", 1, time.Minute, "first"), one("b", 2, time.Hour, "second")}}
	short := &ratelimit.Request{Charges: []ratelimit.Charge{one("c", 3, time.Second, "x")}}
	c := newCall("p:", long, room{})
	kept := c.charges[0].key
	c.set("p:", short, room{})
	want := newAsk("p:", short, room{})
	if c.vector != want.vector || c.cost != 1 || len(c.charges) != 1 || c.charges[0] != want.charges[0] {
		t.Fatalf("%q, want %q", c.vector, want.vector)
	}
	if kept != newAsk("p:", long, room{}).charges[0].key {
		t.Fatalf("%q: what is remembered of a request changes with the next", kept)
	}
}

func TestNobodyIsLeftInTheQueueOfAClosedSource(t *testing.T) {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", longestOwn), nodes: 1})
	l := s.lane("l")
	l.landed = s.clock()
	own := &call{ask: newAsk("", &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "s")}}, room{}), done: make(chan outcome, 1)}
	f, err := l.join(own)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l.flights = maxFlights
	var left []*call
	for i := range maxGroups + 1 { // more than its batch takes along
		left = append(left, l.wait(t, one("p", 9, time.Minute, fmt.Sprint(i))))
	}
	l.unwatch()
	l.flights = 1
	l.flyOnce(f)
	for i, c := range append(left, own) {
		if len(c.done) != 1 || (<-c.done).err == nil {
			t.Fatalf("call %d is left behind, or answered", i)
		}
	}
	if l.flights != 0 || len(l.queue) != 0 {
		t.Fatalf("%d flights, %d wait", l.flights, len(l.queue))
	}
}
