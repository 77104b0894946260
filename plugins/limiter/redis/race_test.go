package redis

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func TestAbandonedCallGetsItsErrorWhileBreakerIsOpen(t *testing.T) {
	pl := busyPipeline(t)
	c := pl.wait(t, one("p", 9, time.Minute, "s"))
	for range maxFailuresInRow {
		pl.settleBatch(&batch{sent: time.Now()}, time.Now(), errors.New("gone"))
	}
	pl.abandonCall(c) // it expired before the breaker opened, but had to wait for the lock
	if out := <-c.done; !errors.Is(out.err, errTimeout) {
		t.Fatal(out.err)
	}
}

// Other senders allow time for connecting; a caller that sends its own batch does not.
func TestOwnBatchIsNotSentByAnotherSender(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "own:", maxOwnWait), nodes: 1})
	pl := s.pipeline(place{limiter: "l"})
	pl.lastAnswer = s.conn.clock()
	own := &call{encodedRequest: encodeRequest(s.prefix, &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "own")}}, keyBudget{}), done: make(chan outcome, 1)}
	f, err := pl.enqueue(own)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	pl.senders = maxInFlight
	other := pl.wait(t, one("p", 9, time.Minute, "other"))
	if b := pl.takeBatch(newBatch()); b == nil || len(b.groups) != 1 || b.groups[0].calls[0] != other {
		t.Fatal("the other batch holds the wrong calls")
	}
	pl.sendOwnBatch(f)
	if <-own.done; pl.senders != maxInFlight-1 {
		t.Fatalf("%d senders", pl.senders)
	}
}

// A pipeline starts a goroutine under its lock, while Health is called and the pipeline of a
// new limiter is requested.
func TestHealthDoesNotDeadlockWithNewPipelines(t *testing.T) {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1})
	pl := s.pipeline(place{limiter: "l"})
	pl.mu.Lock()
	go func() { _ = s.Health() }()
	eventually(t, "Health waits for the pipeline", func() bool {
		if s.mu.TryLock() {
			s.mu.Unlock()
			return false
		}
		return true
	})
	go s.pipeline(place{limiter: "new"})
	eventually(t, "another pipeline waits for Health", func() bool {
		if s.mu.TryRLock() {
			s.mu.RUnlock()
			return false
		}
		return true
	})
	started := make(chan struct{})
	go s.conn.spawn(func() { close(started) })
	select {
	case <-started:
	case <-time.After(5 * time.Second):
		t.Error("deadlock")
	}
	pl.mu.Unlock()
}

func TestNothingStartsAfterClose(t *testing.T) {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.conn.spawn(func() {}) {
		t.Fatal("a goroutine started after Close")
	}
}

// Nobody else arrives who would start a sender.
func TestCallDuringAnOwnBatchIsSentAfterIt(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "after:", maxOwnWait), nodes: 1})
	pl := s.pipeline(place{limiter: "l"})
	pl.lastAnswer = s.conn.clock()
	own := &call{encodedRequest: encodeRequest(s.prefix, &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "own")}}, keyBudget{}), done: make(chan outcome, 1)}
	f, err := pl.enqueue(own)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	pl.senders = maxInFlight
	other := pl.wait(t, one("p", 9, time.Minute, "other"))
	pl.sendOwnBatch(f)
	select {
	case <-other.done:
	case <-time.After(10 * time.Second):
		t.Fatal("it is left behind")
	}
}

func TestSilentRedisDelaysALoneRequestByMaxWait(t *testing.T) {
	shortest := time.Hour // a busy machine makes some longer
	for i := range 3 {
		ask, p := quiet(t, maxOwnWait)
		p.Blackhole()
		begin := time.Now()
		if v, err := ask(t.Context()); err != nil || !v.Outage {
			t.Fatalf("try %d: %+v, %v", i, v, err)
		}
		shortest = min(shortest, time.Since(begin))
	}
	if shortest < maxOwnWait/2 || shortest > 2*maxOwnWait { // the connection ends after 2.5 times that
		t.Fatalf("%v, want %v", shortest, maxOwnWait)
	}
}

func TestLoneCancelledCallerDoesNotWait(t *testing.T) {
	ask, p := quiet(t, patient)
	p.Blackhole()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if v, err := ask(ctx); err == nil || time.Since(begin) > patient/2 {
		t.Fatalf("%+v, %v after %v", v, err, time.Since(begin))
	}
}

// quiet is an idle source with a connection.
func quiet(t *testing.T, wait time.Duration) (ask func(context.Context) (ratelimit.Verdict, error), p *redistest.Proxy) {
	p = redistest.NewProxy(t, redistest.Shared(t).Addr)
	s := open(t, config{settings: settings(t, p.URL(), "quiet-way:", wait), nodes: 1})
	ask = func(ctx context.Context) (ratelimit.Verdict, error) {
		return s.Decide(ctx, ratelimit.Request{Charges: []ratelimit.Charge{one("p", 1<<30, time.Hour, "s")}})
	}
	eventually(t, "the caller may send the next batch", func() bool {
		if v, err := ask(t.Context()); err != nil || v.Outage {
			return false
		}
		pl := s.pipeline(place{limiter: "l"})
		pl.mu.Lock()
		defer pl.mu.Unlock()
		return wait > maxOwnWait || pl.callerMaySend(s.conn.clock())
	})
	return ask, p
}
