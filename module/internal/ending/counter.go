package ending

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// counter gives out epochs. All ends of all users share the stored counter, and whoever succeeds in increasing it
// takes epochs for all who wait in this process: if each had to succeed alone, a few dozen ends at once would starve
// the others.
type counter struct {
	store store.Backend

	mu      sync.Mutex
	waiting map[*int64]struct{} // 0 until it is served
}

func newCounter(b store.Backend) *counter {
	return &counter{store: b, waiting: make(map[*int64]struct{})}
}

// nextEpoch returns an epoch above the counter's value at the call. Nobody else gets it.
func (c *counter) nextEpoch(ctx context.Context, now time.Time) (int64, error) {
	mine := new(int64)
	c.mu.Lock()
	c.waiting[mine] = struct{}{}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, mine)
	}()
	var all []*int64
	var v store.EpochCounter
	_, err := store.Change(ctx, c.store, store.Record{Key: store.EpochCounterKey()}, &v, func(*store.Record) (bool, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if all = all[:0]; *mine != 0 {
			return false, nil // somebody else succeeded, for us too
		}
		for w := range c.waiting {
			all = append(all, w)
		}
		v.Last = max(v.Last+int64(len(all)), now.UnixMilli())
		return true, nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		for i, w := range all {
			if *w == 0 {
				*w = v.Last - int64(i)
			}
		}
	}
	if *mine != 0 {
		err = nil
	}
	return *mine, err
}
