package token

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/store"
)

// snapshot is the ring, not older than ringAge unless the store fails. An error
// means that it was never read.
func (r *Ring) snapshot(ctx context.Context) (*snapshot, error) {
	s := r.current.Load()
	if s != nil {
		// A clock that was set back must not keep an old ring for long either.
		if left := r.due.Load() - r.now().UnixNano(); left > 0 && left <= int64(ringAge) {
			if !r.behind(s) {
				return s, nil
			}
			if fresh, err := r.share(ctx, "seek", r.seek); err == nil {
				return fresh, nil
			}
			return s, nil
		}
	}
	fresh, err := r.reread(ctx)
	if err != nil && s != nil {
		return s, nil
	}
	return fresh, err
}

// reread reads the ring from the store, whatever is in memory.
func (r *Ring) reread(ctx context.Context) (*snapshot, error) {
	return r.share(ctx, "read", func(ctx context.Context) (*snapshot, error) {
		r.access.Lock()
		defer r.access.Unlock()
		return r.read(ctx)
	})
}

// gone tells whether a key that was found must not be used.
func (r *Ring) gone(k *ringKey) bool {
	return k.retired(r.now()) || r.revocations != nil && r.revocations.KeyRevoked(k.Kid)
}

// behind tells, once a second, that a key was revoked since s was read or that s was
// read before the revoked key was taken out of the record: its successor signs on other
// nodes at once.
func (r *Ring) behind(s *snapshot) bool {
	if r.revocations == nil || !s.dirty && s.seen == r.revocations.keyChanges.Load() {
		return false
	}
	now, last := r.now().UnixNano(), r.looked.Load()
	since := now - last
	return (since < 0 || since >= int64(seekPause)) && r.looked.CompareAndSwap(last, now)
}

// lookup finds the key of a kid, nil for one that no token of ours can name. An
// error means that the ring is not known well enough to say so.
func (r *Ring) lookup(ctx context.Context, kid string) (*ringKey, error) {
	s, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if k := s.byID[kid]; k != nil || len(kid) != kidLength {
		return k, nil
	}
	s, err = r.share(ctx, "seek", r.seek)
	if err != nil {
		return nil, err
	}
	return s.byID[kid], nil
}

// seek reads the ring again unless that was done a moment ago.
func (r *Ring) seek(ctx context.Context) (*snapshot, error) {
	r.access.Lock()
	defer r.access.Unlock()
	now := r.now()
	if since := now.Sub(r.sought); since >= 0 && since < seekPause {
		return r.current.Load(), r.blind
	}
	r.sought = now
	var s *snapshot
	s, r.blind = r.read(ctx)
	return s, r.blind
}

// share runs one access for all who ask for it at the same time. Each waits no
// longer than its own context.
func (r *Ring) share(ctx context.Context, name string, access func(context.Context) (*snapshot, error)) (*snapshot, error) {
	done := r.flights.DoChan(name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ringTimeout)
		defer cancel()
		return access(ctx)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-done:
		if result.Err != nil {
			return nil, result.Err
		}
		s, ok := result.Val.(*snapshot)
		if !ok {
			return nil, errors.New("token: the key ring gave no snapshot")
		}
		return s, nil
	}
}

// read needs access. Until a key is made there is no record: an empty ring.
func (r *Ring) read(ctx context.Context) (*snapshot, error) {
	var seen uint64
	if r.revocations != nil {
		seen = r.revocations.keyChanges.Load() // before the read: a later one is noticed
	}
	record, err := r.store.Get(ctx, ringRecordKey)
	var s *snapshot
	switch {
	case errors.Is(err, store.ErrNotFound):
		s, err = &snapshot{}, nil
	case err == nil:
		s, err = decodeRing(record)
	}
	if err != nil {
		r.due.Store(r.now().Add(ringRetry).UnixNano())
		return nil, fmt.Errorf("token: the key ring: %w", err)
	}
	s.seen = seen
	r.install(s)
	return s, nil
}

// install needs access. s is not shared yet.
func (r *Ring) install(s *snapshot) {
	if r.revocations != nil {
		s.revoked = r.revocations.KeyRevoked
		s.dirty = slices.ContainsFunc(s.keys, func(k *ringKey) bool { return s.revoked(k.Kid) })
	}
	r.current.Store(s)
	r.due.Store(r.now().Add(ringAge).UnixNano())
	r.opened.Range(func(kid, _ any) bool {
		if id, ok := kid.(string); !ok || s.byID[id] == nil {
			r.opened.Delete(kid)
		}
		return true
	})
}
