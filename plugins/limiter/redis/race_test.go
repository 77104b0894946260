package redis

import (
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/redistest"
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
	own := &call{ask: newAsk(s.prefix, &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "own")}}), done: make(chan outcome, 1)}
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
