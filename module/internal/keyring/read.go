package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// maxAge is the age at which the ring in memory is read again. It is well below the time for which a new key is
	// published before it signs.
	maxAge = time.Minute
	// retryPause is the pause after a failed read, during which the old ring is used.
	retryPause = 5 * time.Second
	// seekPause is the minimum time between two reads for an unknown kid. Without it, every forged token could
	// cause a read of the store.
	seekPause = time.Second
	// readTimeout bounds one access to the store. Waiting requests share an access, so it does not end with the
	// request that started it.
	readTimeout = 3 * time.Second
	// kidLength is the length of a thumbprint, the only form of kid that the gateway makes.
	kidLength = 43
)

// snapshot returns the ring, which is not older than maxAge unless the store fails. An error means that the
// ring has never been read.
func (r *Ring) snapshot(ctx context.Context) (*snapshot, error) {
	s := r.current.Load()
	if s != nil {
		// If the clock was set back, an old ring must not be kept for long either.
		if left := r.due.Load() - r.Now().UnixNano(); left > 0 && left <= int64(maxAge) {
			if r.isBehind(s) {
				if fresh, err := r.share(ctx, "seek", r.seek); err == nil {
					return fresh, nil
				}
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

// reread reads the ring from the store regardless of its age in memory.
func (r *Ring) reread(ctx context.Context) (*snapshot, error) {
	return r.share(ctx, "read", func(ctx context.Context) error {
		r.access.Lock()
		defer r.access.Unlock()
		_, err := r.readRing(ctx)
		return err
	})
}

// isBehind reports, at most once a second, that a key was revoked after s was read, or that s was read before the
// revoked key was removed from the record: on other nodes its successor signs at once.
func (r *Ring) isBehind(s *snapshot) bool {
	if !s.dirty && s.seen == r.Revocations.KeysRevoked() {
		return false
	}
	now, last := r.Now().UnixNano(), r.looked.Load()
	since := now - last
	return (since < 0 || since >= int64(seekPause)) && r.looked.CompareAndSwap(last, now)
}

// seek reads the ring again unless that was done a moment ago.
func (r *Ring) seek(ctx context.Context) error {
	r.access.Lock()
	defer r.access.Unlock()
	now := r.Now()
	if since := now.Sub(r.sought); since < 0 || since >= seekPause {
		r.sought = now
		_, r.seekErr = r.readRing(ctx)
	}
	return r.seekErr
}

// share performs one access for all callers that want the same one at the same time, and returns the resulting
// ring. Each caller waits no longer than its own context.
func (r *Ring) share(ctx context.Context, name string, access func(context.Context) error) (*snapshot, error) {
	done := r.reads.DoChan(name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
		defer cancel()
		return nil, access(ctx)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-done:
		if result.Err != nil {
			return nil, result.Err
		}
		return r.current.Load(), nil
	}
}

// readRing reads the record. The caller holds access. Before the first key is made there is no record, and
// the ring is empty.
func (r *Ring) readRing(ctx context.Context) (*snapshot, error) {
	seen, begin := r.Revocations.KeysRevoked(), r.Now() // before the read, so that later changes are noticed
	record, err := r.Store.Get(ctx, recordKey)
	var s *snapshot
	switch {
	case errors.Is(err, store.ErrNotFound):
		s, err = &snapshot{}, nil
	case err == nil:
		s, err = decodeRecord(record)
	}
	if err != nil {
		r.due.Store(r.Now().Add(retryPause).UnixNano())
		return nil, fmt.Errorf("keyring: reading the signing keys: %w", err)
	}
	s.read = begin
	r.install(s, seen)
	return s, nil
}

// install makes s the current ring. The caller holds access and has not shared s yet. Private keys that were
// unsealed before stay unsealed.
func (r *Ring) install(s *snapshot, seen uint64) {
	s.seen, s.revoked = seen, r.Revocations.KeyRevoked
	s.dirty = slices.ContainsFunc(s.keys, func(k *Key) bool { return s.revoked(k.Kid) })
	if old := r.current.Load(); old != nil {
		for _, k := range s.keys {
			if before := old.byID[k.Kid]; before != nil {
				k.opened.Store(before.opened.Load())
			}
		}
	}
	r.current.Store(s)
	r.due.Store(r.Now().Add(maxAge).UnixNano())
}
