package redis

import (
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// healthCheckEvery is the time between health checks while the breaker is open.
const healthCheckEvery = 100 * time.Millisecond

// healthPolicy is counted under by health checks alone. They write: a server that can be read
// but not written to is of no use.
var healthPolicy = ratelimit.Policy{Name: "~probe", Limit: 1 << 20, Window: time.Second}

// checkHealth asks Redis now and then until it answers in time, and closes the breaker.
func (p *pipeline) checkHealth() {
	tick := time.NewTicker(healthCheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.conn.closing.Done():
			return
		case <-tick.C:
		}
		sent := p.conn.clock()
		_, err := p.conn.execute(p.healthBatch(), p.conn.timeout)
		got := p.conn.clock()
		p.mu.Lock()
		healthy := err == nil && got.Sub(sent) <= p.conn.maxWait
		if healthy {
			p.breaker.reset()
			p.opened.Store(false)
		} else if err != nil {
			p.lastError = err
		}
		p.mu.Unlock()
		if healthy {
			return
		}
	}
}

// healthBatch is a batch of one request, for the server of this pipeline's keys.
func (p *pipeline) healthBatch() *batch {
	b := newBatch()
	b.addGroup(&group{encodedRequest: encodeRequest(p.head, &ratelimit.Request{Charges: []ratelimit.Charge{{Policy: &healthPolicy}}}, keyBudget{}), n: 1})
	return b
}
