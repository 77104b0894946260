package redis

import (
	"sync"
	"time"
)

// call is a request that waits for its batch.
type call struct {
	*ask
	state state // under the lane's lock
	// flight is the round trip the call is part of, once it is taken.
	flight *flight
	done   chan outcome // one value, unless the call is given up
}

type state uint8

const (
	waiting state = iota
	taken
	given // up
)

// outcome is what became of a call.
type outcome struct {
	answer *answer
	nth    int
	err    error
}

// timers are for the waiting; every request takes one.
var timers = sync.Pool{New: func() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}}

func newTimer(d time.Duration) *time.Timer {
	t, ok := timers.Get().(*time.Timer)
	if !ok {
		return time.NewTimer(d)
	}
	t.Reset(d)
	return t
}

func putTimer(t *time.Timer) {
	t.Stop() // since Go 1.23 nothing is left in its channel
	timers.Put(t)
}
