package grant

import (
	"sync"
	"time"
)

const (
	// maxUnsettled bounds the redemptions remembered. They come up only while the
	// store loses replies; beyond the cap a retry is treated as a replay.
	maxUnsettled = 1024
	// unsettledFor is how long one is remembered: a client that retries does so soon.
	unsettledFor = time.Minute
)

// unsettled holds the redemptions of this process of which the store did not say
// whether they took effect. When the code then turns out to be used by one of them,
// its client, which was answered 503 and tries again, still gets its tokens. Each is
// taken once, so a code still issues once.
type unsettled struct {
	now func() time.Time

	mu    sync.Mutex
	since map[redeemed]time.Time
}

type redeemed struct{ code, attempt string }

func newUnsettled(now func() time.Time) *unsettled {
	return &unsettled{now: now, since: make(map[redeemed]time.Time)}
}

func (u *unsettled) add(code, attempt string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	if len(u.since) >= maxUnsettled {
		for r, at := range u.since {
			if now.Sub(at) >= unsettledFor {
				delete(u.since, r)
			}
		}
	}
	if len(u.since) < maxUnsettled {
		u.since[redeemed{code, attempt}] = now
	}
}

func (u *unsettled) has(code, attempt string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, ok := u.since[redeemed{code, attempt}]
	return ok && u.now().Sub(at) < unsettledFor
}

// take is has, once.
func (u *unsettled) take(code, attempt string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, ok := u.since[redeemed{code, attempt}]
	delete(u.since, redeemed{code, attempt})
	return ok && u.now().Sub(at) < unsettledFor
}
