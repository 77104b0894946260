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
	// maxAge is how old the ring in memory may be before it is read again. It is well below the time for which a new
	// key is published before it signs.
	maxAge = time.Minute
	// retryPause is the pause after a re-read that failed, during which the old ring serves.
	retryPause = 5 * time.Second
	// seekPause is the least time between two re-reads for an unknown kid. Without it anyone could turn each forged
	// token into a read of the store.
	seekPause = time.Second
	// readTimeout bounds one access to the store. Accesses are shared by the requests that wait, so they do not end
	// with the request that began them.
	readTimeout = 3 * time.Second
	// kidLength is that of a thumbprint, the only form of kid we make.
	kidLength = 43
)

// snapshot is the ring, not older than maxAge unless the store fails. An error means that it was never read.
func (r *Ring) snapshot(ctx context.Context) (*snapshot, error) {
	s := r.current.Load()
	if s != nil {
		// A clock that was set back must not keep an old ring for long either.
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

// reread reads the ring from the store, whatever is in memory.
func (r *Ring) reread(ctx context.Context) (*snapshot, error) {
	return r.share(ctx, "read", func(ctx context.Context) error {
		r.access.Lock()
		defer r.access.Unlock()
		_, err := r.read(ctx)
		return err
	})
}

// isBehind reports, once a second, that a key was revoked since s was read or that s was read before the revoked key
// was taken out of the record: its successor signs on other nodes at once.
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
		_, r.seekErr = r.read(ctx)
	}
	return r.seekErr
}

// share makes one access for all who ask for it at the same time, and returns the ring as it is then. Each waits no
// longer than its own context.
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

// read reads the record. The caller holds access. Until a key is made there is no record: an empty ring.
func (r *Ring) read(ctx context.Context) (*snapshot, error) {
	seen := r.Revocations.KeysRevoked() // before the read: a later one is noticed
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
	r.install(s, seen)
	return s, nil
}

// install makes s the current ring. The caller holds access, and has not shared s yet. Private keys that were opened
// stay so.
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
