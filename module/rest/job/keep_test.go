package job

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// Otherwise one client could fill the store with finished jobs, and nobody could sign in any more.
func TestFinishedJobsBeyondTheRoomAreKeptBriefly(t *testing.T) {
	s := newShelf()
	var fits atomic.Bool
	var counted atomic.Int64
	q := node(t, s, newWork(nil), "a", func(c *QueueConfig) {
		c.Room = func(_ context.Context, _ *Job, size int) bool {
			counted.Store(int64(size))
			return fits.Load()
		}
	})
	q.Start()
	defer q.Stop()
	for name, c := range map[string]struct {
		fits bool
		keep time.Duration
	}{"with room": {true, 24 * time.Hour}, "without": {false, briefly}} {
		fits.Store(c.fits)
		j := submit(t, q)
		j = q.Wait(t.Context(), j, 10*time.Second)
		if j = find(t, q, j.ID); j.State != Succeeded || (j.Result != nil) != c.fits || j.Omitted == c.fits {
			t.Errorf("%s: %+v", name, j)
		}
		s.mu.Lock()
		r := s.jobs[j.ID]
		s.mu.Unlock()
		if got := r.Expires.Sub(j.Finished); got != c.keep {
			t.Errorf("%s: kept for %v", name, got)
		}
		if n := counted.Load(); n < int64(len(`{"ok":true}`)) {
			t.Errorf("%s: %d bytes are counted", name, n)
		}
	}
}
