package bolt

import (
	"errors"
	"sync"
	"time"
)

// damageLife is how long damage that a call met is reported: long enough for whoever asks
// every few seconds, and over soon after the file was restored.
const damageLife = time.Minute

// damage remembers the last damaged page or record that a call met.
type damage struct {
	mu   sync.Mutex
	err  error
	seen time.Time
}

func (d *damage) recordDamage(err error) {
	if !errors.As(err, new(panicError)) && !errors.Is(err, errDamaged) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.seen = err, time.Now()
}

// Health is nil, or the damage that calls met in the last minute. It reads nothing.
func (b *Backend) Health() error {
	b.damage.mu.Lock()
	defer b.damage.mu.Unlock()
	if b.damage.err == nil || time.Since(b.damage.seen) > damageLife {
		return nil
	}
	return b.damage.err
}
