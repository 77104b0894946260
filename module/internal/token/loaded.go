package token

import (
	"context"
	"errors"
	"time"
)

// WaitLoaded waits until the revocations were fully loaded once, so that tokens can be
// judged. Its error is that of the context.
func (r *Revocations) WaitLoaded(ctx context.Context) error {
	select {
	case <-r.first:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// MaxStale is how long the last state serves after the feed was lost.
func (r *Revocations) MaxStale() time.Duration { return r.maxStale }

// Staleness is how long ago what this process knows was complete: nothing while the feed
// runs, else the time since it was lost. known is false before the first complete load.
func (r *Revocations) Staleness() (since time.Duration, known bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.loaded || r.live {
		return 0, r.loaded
	}
	return max(0, r.now().Sub(r.lost)), true
}

// errUnread is the state of a ring before its first use.
var errUnread = errors.New("token: the signing keys were not read yet")

// Usable is nil when the ring was read and each key that signs can be opened with the
// secret of this process. It does not read the ring again.
func (r *Ring) Usable(ctx context.Context) error {
	s, now := r.current.Load(), r.now()
	if s == nil {
		return errUnread
	}
	for _, alg := range s.algorithms(now) {
		if k := s.signer(alg, now); k != nil {
			if _, err := r.open(ctx, k); err != nil {
				return err
			}
		}
	}
	return nil
}
