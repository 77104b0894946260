package admission

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

// slots bounds the memory of a cooldown, at 8 bytes each.
const slots = 1 << 15

// cooldown remembers which connections were refused and how long their clients were told to wait,
// so that clients that do not wait can be slowed down. It has a fixed number of slots; a
// connection that shares one with a later refusal is forgotten.
type cooldown struct {
	now  func() time.Duration // monotonic
	seed maphash.Seed
	// Each has 24 bits of a connection's digest and the milliseconds until the end.
	table [slots]atomic.Uint64
}

func newCooldown() *cooldown {
	start := time.Now()
	return &cooldown{now: func() time.Duration { return time.Since(start) }, seed: maphash.MakeSeed()}
}

const untilBits = 40 // 34 years

// begin notes a refusal.
func (c *cooldown) begin(connection string, wait time.Duration) {
	slot, tag := c.findSlot(connection)
	slot.Store(tag | uint64((c.now() + wait).Milliseconds()))
}

// take returns how much of the wait of a connection is left, 0 for none, and forgets it: a
// client waits once for each refusal.
func (c *cooldown) take(connection string) time.Duration {
	slot, tag := c.findSlot(connection)
	v := slot.Load()
	if v == 0 || v>>untilBits<<untilBits != tag || !slot.CompareAndSwap(v, 0) {
		return 0
	}
	return max(0, time.Duration(v&(1<<untilBits-1))*time.Millisecond-c.now())
}

func (c *cooldown) findSlot(connection string) (slot *atomic.Uint64, tag uint64) {
	h := maphash.String(c.seed, connection)
	return &c.table[h%slots], h >> untilBits << untilBits
}
