package redis

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// busyPipeline has batches in flight, so that every call waits.
func busyPipeline(t *testing.T) *pipeline {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1})
	return &pipeline{conn: s.conn, senders: maxInFlight}
}

// takeBatch fills a batch as a sender does, and returns nil if nothing waits.
func (pl *pipeline) takeBatch(b *batch) *batch {
	if !pl.topUpBatch(b) {
		return nil
	}
	return b
}

// wait enqueues a call that somebody else sends.
func (pl *pipeline) wait(t *testing.T, charges ...ratelimit.Charge) *call {
	t.Helper()
	c := &call{encodedRequest: encodeRequest("", &ratelimit.Request{Charges: charges}, keyBudget{}), done: make(chan outcome, 1)}
	if own, err := pl.enqueue(c); err != nil || own != nil {
		t.Fatal(own, err)
	}
	return c
}

func TestBatchLimitsGroupsAndKeysAndMergesEqualRequests(t *testing.T) {
	pl := busyPipeline(t)
	for i := range 1000 {
		pl.wait(t, one("p", 9, time.Minute, fmt.Sprint(i%100)))
	}
	first := pl.takeBatch(newBatch())
	if len(first.groups) != 64 || len(first.keys) != 64 || len(pl.queue) != 1000-64 {
		t.Fatalf("%d groups, %d keys, %d wait", len(first.groups), len(first.keys), len(pl.queue))
	}
	pl = busyPipeline(t)
	for i := range 100 {
		pl.wait(t, one("a", 9, time.Minute, fmt.Sprint(i)), one("b", 9, time.Minute, fmt.Sprint(i)), one("c", 9, time.Minute, fmt.Sprint(i)))
	}
	if b := pl.takeBatch(newBatch()); len(b.groups) != 42 || len(b.keys) != 126 || len(pl.queue) != 58 {
		t.Fatalf("%d groups, %d keys, %d wait", len(b.groups), len(b.keys), len(pl.queue))
	}
	pl = busyPipeline(t)
	for i := range 3000 {
		pl.wait(t, one("p", 9, time.Minute, fmt.Sprint(i%3)))
	}
	b := pl.takeBatch(newBatch())
	if len(b.groups) != 3 || b.groups[2].n != 1000 || len(pl.queue) != 0 {
		t.Fatalf("%d groups, %d wait", len(b.groups), len(pl.queue))
	}
	pl.wait(t, one("p", 9, time.Minute, "s"))
	pl.wait(t, one("p", 8, time.Minute, "s"))
	if b := pl.takeBatch(newBatch()); len(b.groups) != 2 || len(b.keys) != 1 {
		t.Fatalf("%d groups, %d keys under two limits", len(b.groups), len(b.keys))
	}
	if pl.takeBatch(newBatch()) != nil || pl.senders != maxInFlight-1 {
		t.Fatal("a sender does not end when no call waits")
	}
}

func TestAbandonedCallIsNotCharged(t *testing.T) {
	pl := busyPipeline(t)
	gone, here := pl.wait(t, one("p", 9, time.Minute, "gone")), pl.wait(t, one("p", 9, time.Minute, "here"))
	pl.abandonCall(gone)
	if b := pl.takeBatch(newBatch()); len(b.groups) != 1 || b.groups[0].calls[0] != here {
		t.Fatal("the batch holds an abandoned call")
	}
}

func TestCallQueueIsLimited(t *testing.T) {
	pl := busyPipeline(t)
	pl.conn.maxWait = time.Minute // with -race on a busy machine it takes longer than calls wait otherwise
	calls := make([]*call, maxQueue)
	for i := range calls {
		calls[i] = pl.wait(t, one("p", 9, time.Minute, "s"))
	}
	extra := &call{encodedRequest: calls[0].encodedRequest, done: make(chan outcome, 1)}
	for range 9 * maxQueue {
		if _, err := pl.enqueue(extra); !errors.Is(err, errOverflow) || len(pl.queue) != maxQueue {
			t.Fatalf("%v, %d wait", err, len(pl.queue))
		}
	}
	pl.abandonCall(calls[17])
	if _, err := pl.enqueue(extra); err != nil || len(pl.queue) != maxQueue {
		t.Fatalf("%v: an abandoned call still takes room", err)
	}
}

func TestWaitingCallsFailWhenTheBreakerOpens(t *testing.T) {
	pl := busyPipeline(t)
	batches := make([]*batch, maxFailuresInRow)
	for i := range batches {
		c := pl.wait(t, one("p", 9, time.Minute, fmt.Sprint(i)))
		batches[i] = newBatch()
		pl.takeBatch(batches[i])
		pl.senders = maxInFlight
		_ = c
	}
	queued := pl.wait(t, one("p", 9, time.Minute, "s"))
	for _, f := range batches {
		pl.settleBatch(f, time.Now(), errors.New("gone"))
	}
	select {
	case out := <-queued.done:
		if !errors.Is(out.err, errTimeout) {
			t.Fatal(out.err)
		}
	default:
		t.Fatal("it still waits")
	}
	if _, err := pl.enqueue(queued); !pl.opened.Load() || pl.outageError() == nil || !errors.Is(err, errTimeout) {
		t.Fatal("the breaker is not open")
	}
}

func TestLateBatchCountsAsOneFailure(t *testing.T) {
	pl := busyPipeline(t)
	var ahead atomic.Int64
	pl.conn = open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1, clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}).conn
	hurried, first, second := pl.wait(t, one("p", 9, time.Minute, "s")), pl.wait(t, one("p", 9, time.Minute, "s")), pl.wait(t, one("p", 9, time.Minute, "s"))
	f := newBatch()
	pl.takeBatch(f)
	if pl.abandonCall(hurried); pl.breaker.failuresInRow != 0 { // its caller went away
		t.Fatal("it is not late yet")
	}
	ahead.Store(int64(patient))
	if pl.abandonCall(first); pl.breaker.failuresInRow != 1 {
		t.Fatal("a request has waited in vain, but no failure is counted")
	}
	pl.abandonCall(second)
	pl.settleBatch(f, pl.conn.clock(), errors.New("gone"))
	if pl.breaker.failuresInRow != 1 {
		t.Fatalf("%d failures, want 1", pl.breaker.failuresInRow)
	}
	f = newBatch()
	pl.wait(t, one("p", 9, time.Minute, "s"))
	pl.takeBatch(f)
	if pl.settleBatch(f, f.sent.Add(patient+1), nil); pl.breaker.failuresInRow != 2 {
		t.Fatal("a late reply is not counted as a failure")
	}
	f = newBatch()
	pl.wait(t, one("p", 9, time.Minute, "s"))
	pl.takeBatch(f)
	if pl.settleBatch(f, f.sent.Add(patient), nil); pl.breaker.failuresInRow != 0 {
		t.Fatal("a reply in time is counted as a failure")
	}
}

func TestIdlePipelinesAreDropped(t *testing.T) {
	s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1})
	for i := range 10 * maxIdlePipelines {
		s.pipeline(place{limiter: fmt.Sprint(i)})
	}
	if len(s.pipelines) > maxIdlePipelines {
		t.Fatalf("%d pipelines", len(s.pipelines))
	}
}

func TestBreakerOpens(t *testing.T) {
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
				b.countFailure(now)
			case 's':
				b.countSuccess(now)
			default:
				now = now.Add(100 * time.Millisecond)
			}
		}
		if b.open != c.open {
			t.Errorf("%s: open = %v", name, b.open)
		}
		if b.reset(); b.open || b.failuresInRow != 0 {
			t.Errorf("%s: does not close", name)
		}
	}
}
