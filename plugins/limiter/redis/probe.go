package redis

import (
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// probeEvery is how long an open breaker waits between probes.
const probeEvery = 100 * time.Millisecond

// probed is a policy of which nothing is ever asked but whether it can be counted under:
// a server that reads but cannot write is no use.
var probed = ratelimit.Policy{Name: "~probe", Limit: 1 << 20, Window: time.Second}

// probe asks Redis now and then until it answers in time, and closes the breaker.
func (l *lane) probe() {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.source.ending.Done():
			return
		case <-tick.C:
		}
		sent := l.source.clock()
		_, err := l.source.run(l.probing(), l.source.timeout)
		got := l.source.clock()
		l.mu.Lock()
		healed := err == nil && got.Sub(sent) <= l.source.patience
		if healed {
			l.breaker.close()
			l.opened.Store(false)
		} else if err != nil {
			l.cause = err
		}
		l.mu.Unlock()
		if healed {
			return
		}
	}
}

// probing is a batch of one on the lane's own server.
func (l *lane) probing() *batch {
	p := probed
	p.Limiter = l.limiter
	a := newAsk(l.source.prefix, &ratelimit.Request{Charges: []ratelimit.Charge{{Policy: &p}}}, room{})
	b := newBatch()
	b.add(&group{ask: a, n: 1})
	return b
}
