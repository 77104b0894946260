package ratelimit

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// common holds the buckets in which subjects without a key are counted, one for each
// policy. Its lock comes after those of the shards.
type common struct {
	mu      sync.Mutex
	active  atomic.Int32 // buckets that hold units
	used    atomic.Uint64
	buckets map[bucketKey]*State
}

type bucketKey struct {
	limiter string
	policy  string
	window  time.Duration
}

// acquire locks the buckets and forgets those that have drained.
func (c *common) acquire(now int64) {
	c.mu.Lock()
	for k, s := range c.buckets {
		if s.Advance(newGrain(k.window), now); s.Total() == 0 {
			delete(c.buckets, k)
		}
	}
}

// release comes before the shards are unlocked: whoever finds a subject without a key
// after that knows whether a bucket may hold units of it.
func (c *common) release() {
	c.active.Store(int32(len(c.buckets)))
	c.mu.Unlock()
}

// open gives a policy its bucket.
func (c *common) open(k bucketKey, now int64) *State {
	k.limiter, k.policy = strings.Clone(k.limiter), strings.Clone(k.policy)
	s := new(State)
	s.Advance(newGrain(k.window), now)
	c.buckets[k] = s
	return s
}
