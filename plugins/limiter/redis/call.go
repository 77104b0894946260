package redis

import (
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// call is a request that waits for the answer to its batch.
type call struct {
	*encodedRequest
	state callState // under the pipeline's lock until it is answered or abandoned
	due   time.Time // when it stops waiting
	batch *batch    // that it was sent with
	lease int       // how many equal requests Redis may charge in advance
	// undone is what Redis charged its request before, and is to give back: the call itself only looks.
	undone []unusedUnits
	done   chan outcome // has room for the one outcome, unless the caller went away
}

type callState uint8

const (
	callWaiting callState = iota
	callSent
	callAnswered // or about to be
	callAbandoned
)

// outcome is the answer to a call, or why there is none.
type outcome struct {
	answer *answer
	index  int // of the call among its group
	err    error
}

// giveUp abandons a call that waits or was sent. It needs the pipeline's lock.
func (c *call) giveUp(why error) {
	c.state = callAbandoned
	c.done <- outcome{err: why}
}

// callPool holds calls for reuse. Only a call that nobody else refers to may be released:
// one that was never queued, or one that was answered.
var callPool sync.Pool

func newCall(head string, r *ratelimit.Request, budget keyBudget) *call {
	c, ok := callPool.Get().(*call)
	if !ok {
		c = &call{encodedRequest: new(encodedRequest), done: make(chan outcome, 1)}
	}
	c.encode(head, r, budget)
	c.lease, c.undone = 0, c.undone[:0]
	return c
}

func (c *call) release() {
	c.batch = nil
	callPool.Put(c)
}
