package bolt

import (
	"errors"
	"fmt"
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

// Health is nil, or the damage that calls met in the last minute, or says that what is written now will be lost. It reads no page.
func (b *Backend) Health() error {
	if err := b.handle.checkName(); err != nil {
		return err
	}
	b.damage.mu.Lock()
	defer b.damage.mu.Unlock()
	if b.damage.err == nil || time.Since(b.damage.seen) > damageLife {
		return nil
	}
	return b.damage.err
}

// errReplaced says that somebody moved, removed or replaced the state file without stopping the gateway first.
var errReplaced = errors.New("is no longer the file that the gateway has open: what it writes now is lost when it ends")

// checkName returns an error if the open file is no longer the one of its name.
func (h *handle) checkName() error {
	h.mu.RLock() // a compaction replaces the file, too
	defer h.mu.RUnlock()
	if h.db == nil {
		return nil // the calls that fail say why
	}
	same, err := isInPlace(h.path, h.file)
	if err == nil && !same {
		err = fmt.Errorf("store bolt: %s %w", h.path, errReplaced)
	}
	return err
}
