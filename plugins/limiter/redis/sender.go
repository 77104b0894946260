package redis

import (
	"runtime"
	"time"
)

// sendBatches sends one batch after the other until no call waits, or too few for two senders.
func (p *pipeline) sendBatches() {
	for {
		p.yieldToCallers()
		b := p.nextBatch()
		if b == nil {
			return
		}
		p.roundTrip(b, p.conn.timeout)
	}
}

// sendOwnBatch sends the batch of one caller, along with the calls that arrive before it
// leaves. Later ones it leaves to another sender.
func (p *pipeline) sendOwnBatch(b *batch) {
	p.yieldToCallers()
	p.topUpBatch(b)
	p.roundTrip(b, p.conn.maxWait)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 && p.conn.spawn(p.sendBatches) {
		return
	}
	p.senders--
	if p.senders == 0 { // the connection is closed, or the queue empty
		p.failQueue(errClosed)
	}
}

// yieldToCallers lets callers that are about to enqueue do so: goroutines that can run, run
// first. If there are none it takes no time.
func (p *pipeline) yieldToCallers() {
	for before, n := -1, p.queueLength(); before < n && n < maxGroups; {
		runtime.Gosched()
		before, n = n, p.queueLength()
	}
}

func (p *pipeline) queueLength() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// roundTrip has Redis decide on a batch and answers its calls.
func (p *pipeline) roundTrip(b *batch, timeout time.Duration) {
	answers, err := p.conn.execute(b, timeout)
	got := p.conn.clock()
	p.settleBatch(b, got, err)
	for i, g := range b.groups {
		if err == nil && p.denials != nil {
			p.denials.remember(g.encodedRequest, &answers[i], b.sent, got)
		}
		if g.lease > 0 {
			var a *answer
			if err == nil {
				a = &answers[i]
			}
			p.leases.settle(p.head, g, a, b.sent, got)
		}
		for index, c := range g.calls {
			switch {
			case c.state == callAbandoned: // it had its outcome
			case err != nil:
				c.done <- outcome{err: err}
			default:
				c.done <- outcome{answer: &answers[i], index: index}
			}
		}
	}
}

// nextBatch returns the next batch of a sender, or nil when that sender is one too many or
// no call waits.
func (p *pipeline) nextBatch() *batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.senders--
	if !p.needsSender(len(p.queue), p.conn.clock()) {
		return nil
	}
	p.senders++
	if b := newBatch(); p.fillBatch(b) {
		return b
	}
	return nil
}

// topUpBatch moves waiting calls into a batch that is about to leave. It returns false, and
// the sender ends, when there is nothing to send.
func (p *pipeline) topUpBatch(b *batch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fillBatch(b)
}
