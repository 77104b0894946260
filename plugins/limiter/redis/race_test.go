package redis

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func TestWhoGivesUpWhenTheBreakerHasOpenedIsToldSo(t *testing.T) {
	l := parked(t)
	c := l.wait(t, one("p", 9, time.Minute, "s"))
	for range failuresInARow {
		l.land(&flight{sent: time.Now()}, time.Now(), errors.New("gone"))
	}
	l.leave(c) // his patience ended before the breaker opened, and he had to wait for the lock
	if out := <-c.done; !errors.Is(out.err, errOpen) {
		t.Fatal(out.err)
	}
}

// A flight of others has the time that a connection takes; who flies himself has not.
func TestWhoMakesTheTripHimselfIsNotTakenAlongByOthers(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "own:", longestOwn), nodes: 1})
	l := s.lane("l")
	l.landed = s.clock()
	own := &call{ask: newAsk(s.prefix, &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "own")}}, room{}), done: make(chan outcome, 1)}
	f, err := l.join(own)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	l.flights = maxFlights
	other := l.wait(t, one("p", 9, time.Minute, "other"))
	if b := l.take(new(flight)); b == nil || len(b.groups) != 1 || b.groups[0].calls[0] != other {
		t.Fatal("the batch of others has a call that is not waited for with patience")
	}
	l.flyOnce(f)
	if <-own.done; l.flights != maxFlights-1 {
		t.Fatalf("%d flights", l.flights)
	}
}

// A lane starts a goroutine under its lock; meanwhile somebody asks for the health, and a
// limiter is asked for the first time.
func TestNobodyWaitsForEachOther(t *testing.T) {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1})
	l := s.lane("l")
	l.mu.Lock()
	go func() { _ = s.Health() }()
	eventually(t, "the health waits for the lane", func() bool {
		if s.mu.TryLock() {
			s.mu.Unlock()
			return false
		}
		return true
	})
	go s.lane("new")
	eventually(t, "another lane waits for the health", func() bool {
		if s.mu.TryRLock() {
			s.mu.RUnlock()
			return false
		}
		return true
	})
	started := make(chan struct{})
	go s.start(func() { close(started) })
	select {
	case <-started:
	case <-time.After(5 * time.Second):
		t.Error("they wait for each other")
	}
	l.mu.Unlock()
}

func TestNothingStartsAfterClose(t *testing.T) {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.start(func() {}) {
		t.Fatal("a goroutine begins that Close has not waited for")
	}
}

// What comes while somebody makes his own trip goes with the next, though nobody else comes.
func TestWhoWaitsForAnothersTripIsTakenAfterIt(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "after:", longestOwn), nodes: 1})
	l := s.lane("l")
	l.landed = s.clock()
	own := &call{ask: newAsk(s.prefix, &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "own")}}, room{}), done: make(chan outcome, 1)}
	f, err := l.join(own)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	l.flights = maxFlights
	other := l.wait(t, one("p", 9, time.Minute, "other"))
	l.flyOnce(f)
	select {
	case <-other.done:
	case <-time.After(10 * time.Second):
		t.Fatal("it is left behind")
	}
}

func TestASilentRedisCostsARequestOnAQuietWayItsPatience(t *testing.T) {
	shortest := time.Hour // a busy machine makes some longer
	for i := range 3 {
		ask, p := quiet(t, longestOwn)
		p.Blackhole()
		begin := time.Now()
		if v, err := ask(t.Context()); err != nil || !v.Outage {
			t.Fatalf("try %d: %+v, %v", i, v, err)
		}
		shortest = min(shortest, time.Since(begin))
	}
	if shortest < longestOwn/2 || shortest > 2*longestOwn { // the connection ends after 2.5 times that
		t.Fatalf("%v, want %v", shortest, longestOwn)
	}
}

func TestACallerThatGoesAwayOnAQuietWayIsNotKeptWaiting(t *testing.T) {
	ask, p := quiet(t, patient)
	p.Blackhole()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if v, err := ask(ctx); err == nil || time.Since(begin) > patient/2 {
		t.Fatalf("%+v, %v after %v", v, err, time.Since(begin))
	}
}

// quiet is a source that has just been served and has nothing else to do.
func quiet(t *testing.T, wait time.Duration) (ask func(context.Context) (ratelimit.Verdict, error), p *redistest.Proxy) {
	p = redistest.NewProxy(t, redistest.Shared(t).Addr)
	s := open(t, config{settings: settings(t, p.URL(), "quiet-way:", wait), nodes: 1})
	ask = func(ctx context.Context) (ratelimit.Verdict, error) {
		return s.Decide(ctx, ratelimit.Request{Charges: []ratelimit.Charge{one("p", 1<<30, time.Hour, "s")}})
	}
	eventually(t, "the next trip is its caller's own", func() bool {
		if v, err := ask(t.Context()); err != nil || v.Outage {
			return false
		}
		l := s.lane("l")
		l.mu.Lock()
		defer l.mu.Unlock()
		return wait > longestOwn || l.clear(s.clock())
	})
	return ask, p
}
