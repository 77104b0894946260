package redis

import (
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// call is a request that waits for its batch.
type call struct {
	*ask
	state state     // under the lane's lock until it is answered or given up
	due   time.Time // when its patience ends
	// flight is the round trip the call is part of, once it is taken.
	flight *flight
	done   chan outcome // room for the one value there is, unless the caller went away
}

type state uint8

const (
	waiting state = iota
	taken
	answered // or about to be
	given    // up
)

// outcome is what became of a call.
type outcome struct {
	answer *answer
	nth    int
	err    error
}

// giveUp is for a call that waits or is taken, under the lane's lock.
func (c *call) giveUp(why error) {
	c.state = given
	c.done <- outcome{err: why}
}

// calls are for using again. Only what nobody else holds on to may go back: a call that was
// never queued, or one that was answered.
var calls sync.Pool

func newCall(prefix string, r *ratelimit.Request, own room) *call {
	c, ok := calls.Get().(*call)
	if !ok {
		c = &call{ask: new(ask), done: make(chan outcome, 1)}
	}
	c.set(prefix, r, own)
	return c
}

func (c *call) free() {
	c.flight = nil
	calls.Put(c)
}
