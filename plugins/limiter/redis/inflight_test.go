package redis

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func TestSecondBatchIsSentWhenFullOrLate(t *testing.T) {
	for name, c := range map[string]struct {
		senders, waiting int
		took             time.Duration
		leaves           bool
	}{
		"the first is sent at once":               {0, 1, 0, true},
		"a few wait for the next":                 {1, maxGroups - 1, 0, false},
		"a full batch does not wait":              {1, maxGroups, 0, true},
		"few do not wait for one that takes long": {1, 1, patient/4 + 1, true},
		"there is no third":                       {2, maxQueue, patient, false},
	} {
		pl := busyPipeline(t)
		now := time.Now()
		pl.senders = c.senders
		for range c.senders {
			pl.inFlight = append(pl.inFlight, &batch{sent: now.Add(-c.took)})
		}
		if got := pl.needsSender(c.waiting, now); got != c.leaves {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Two connections for what one can do would make batches small.
func TestSurplusSenderEndsAndLeavesItsQueue(t *testing.T) {
	pl := busyPipeline(t)
	c := pl.wait(t, one("p", 9, time.Minute, "s"))
	pl.inFlight = []*batch{{sent: time.Now()}}
	if b := pl.nextBatch(); b != nil || pl.senders != 1 || c.state != callWaiting {
		t.Fatal(b, pl.senders, c.state)
	}
	pl.inFlight = nil
	if b := pl.nextBatch(); b == nil || c.state != callSent {
		t.Fatal("the last sender leaves a call behind")
	}
}

func TestOwnBatchTakesWaitingCallsAlong(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "along:", maxOwnWait), nodes: 1})
	pl := s.pipeline(place{limiter: "l"})
	pl.lastAnswer = s.conn.clock()
	own := &call{encodedRequest: encodeRequest(s.prefix, &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "own")}}, keyBudget{}), done: make(chan outcome, 1)}
	f, err := pl.enqueue(own)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	other := pl.wait(t, one("p", 9, time.Minute, "other"))
	pl.sendOwnBatch(f)
	if len(own.done) != 1 || len(other.done) != 1 || pl.senders != 0 || len(pl.inFlight) != 0 {
		t.Fatalf("%d and %d answers, %d senders", len(own.done), len(other.done), pl.senders)
	}
}

func TestOneTimerExpiresAllWaitingCalls(t *testing.T) {
	pl := busyPipeline(t)
	pl.conn.maxWait = 5 * time.Millisecond
	first := pl.wait(t, one("p", 9, time.Minute, "s"))
	pl.mu.Lock()
	f := newBatch()
	pl.fillBatch(f)
	pl.mu.Unlock()
	second := pl.wait(t, one("p", 9, time.Minute, "s"))
	time.Sleep(time.Millisecond)
	third := pl.wait(t, one("p", 9, time.Minute, "s"))
	for i, c := range []*call{first, second, third} {
		select {
		case out := <-c.done:
			if !errors.Is(out.err, errTimeout) || time.Now().Before(c.due) {
				t.Errorf("call %d: %v, %v too early", i, out.err, time.Until(c.due))
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("call %d waits for ever", i)
		}
	}
	eventually(t, "the late batch is counted, and no timer is set", func() bool {
		pl.mu.Lock()
		defer pl.mu.Unlock()
		return f.countedLate && pl.breaker.failuresInRow == 1 && !pl.timerSet
	})
	// A late answer has no receiver and blocks nothing.
	pl.roundTrip(f, patient)
	if len(first.done) != 0 || first.state != callAbandoned {
		t.Fatal("an abandoned call is answered")
	}
}

func TestReusedCallKeepsNothingOfItsOldRequest(t *testing.T) {
	long := &ratelimit.Request{Cost: 7, Charges: []ratelimit.Charge{one("a", 1, time.Minute, "first"), one("b", 2, time.Hour, "second")}}
	short := &ratelimit.Request{Charges: []ratelimit.Charge{one("c", 3, time.Second, "x")}}
	c := newCall("p:", long, keyBudget{})
	kept := c.charges[0].key
	c.encode("p:", short, keyBudget{})
	want := encodeRequest("p:", short, keyBudget{})
	if c.vector != want.vector || c.cost != 1 || len(c.charges) != 1 || c.charges[0] != want.charges[0] {
		t.Fatalf("%q, want %q", c.vector, want.vector)
	}
	if kept != encodeRequest("p:", long, keyBudget{}).charges[0].key {
		t.Fatalf("%q: what is remembered of a request changes with the next", kept)
	}
}

func TestCloseFailsAllWaitingCalls(t *testing.T) {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", maxOwnWait), nodes: 1})
	pl := s.pipeline(place{limiter: "l"})
	pl.lastAnswer = s.conn.clock()
	own := &call{encodedRequest: encodeRequest("", &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "s")}}, keyBudget{}), done: make(chan outcome, 1)}
	f, err := pl.enqueue(own)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	pl.senders = maxInFlight
	var left []*call
	for i := range maxGroups + 1 { // more than its batch takes along
		left = append(left, pl.wait(t, one("p", 9, time.Minute, fmt.Sprint(i))))
	}
	pl.senders = 1
	pl.sendOwnBatch(f)
	for i, c := range append(left, own) {
		if len(c.done) != 1 || (<-c.done).err == nil {
			t.Fatalf("call %d is left behind, or answered", i)
		}
	}
	if pl.senders != 0 || len(pl.queue) != 0 {
		t.Fatalf("%d senders, %d wait", pl.senders, len(pl.queue))
	}
}
