package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// ringAge is how old the ring in memory may be before it is read again. It is
	// well below the time for which a new key is published before it signs.
	ringAge = time.Minute
	// ringRetry is the pause after a re-read that failed: the old ring serves.
	ringRetry = 5 * time.Second
	// seekPause is the least time between two re-reads for an unknown kid. Without
	// it anyone could turn each forged token into a read of the store.
	seekPause = time.Second
	// ringTimeout bounds one access to the store. Accesses are shared by the requests
	// that wait, so they do not end with the request that began them.
	ringTimeout = 3 * time.Second
	// kidLength is that of a thumbprint, the only form of kid we make.
	kidLength = 43
)

// RingConfig is what a [Ring] needs.
type RingConfig struct {
	// Store keeps the ring. It is first used when the first key is asked for.
	Store store.Backend
	// Keys gives the secrets that seal private keys. It is called when a token is
	// signed, never to verify one. Its errors are technical.
	Keys func(context.Context) (*secret.Keys, error)
	// Now defaults to time.Now.
	Now func() time.Time
}

// Ring is the key ring of all nodes, one record in the store, as this process knows
// it. It is read at first use, when it is older than a minute, and for a token that
// names an unknown key.
type Ring struct {
	store store.Backend
	keys  func(context.Context) (*secret.Keys, error)
	now   func() time.Time

	current atomic.Pointer[snapshot]
	due     atomic.Int64 // when current is to be read again, Unix nanoseconds
	flights singleflight.Group

	access sync.Mutex // one access to the record at a time: the last one read is the newest
	sought time.Time  // the last re-read for an unknown kid; under access
	blind  error      // why it failed; under access

	opened sync.Map // kid -> *private; only of keys that were in the ring
}

// NewRing checks the configuration. It touches neither store nor secrets.
func NewRing(c RingConfig) (*Ring, error) {
	if c.Store == nil || c.Keys == nil {
		return nil, errors.New("token: a key ring needs a store and secrets")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Ring{store: c.Store, keys: c.Keys, now: c.Now}, nil
}

// Format keeps private keys out of every log line that prints a ring.
func (r *Ring) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "token.Ring") }

// PublicKeys is the JWK set (RFC 7517 section 5) of all keys that may have signed a
// living token or are going to sign. Errors are technical.
func (r *Ring) PublicKeys(ctx context.Context) (KeySet, error) {
	s, err := r.snapshot(ctx)
	if err != nil {
		return KeySet{}, err
	}
	return newKeySet(s.published(r.now()))
}

// snapshot is the ring, not older than ringAge unless the store fails. An error
// means that it was never read.
func (r *Ring) snapshot(ctx context.Context) (*snapshot, error) {
	s := r.current.Load()
	if s != nil {
		// A clock that was set back must not keep an old ring for long either.
		if left := r.due.Load() - r.now().UnixNano(); left > 0 && left <= int64(ringAge) {
			return s, nil
		}
	}
	fresh, err := r.share(ctx, "read", func(ctx context.Context) (*snapshot, error) {
		r.access.Lock()
		defer r.access.Unlock()
		return r.read(ctx)
	})
	if err != nil && s != nil {
		return s, nil
	}
	return fresh, err
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
	r.install(s)
	return s, nil
}

// install needs access.
func (r *Ring) install(s *snapshot) {
	r.current.Store(s)
	r.due.Store(r.now().Add(ringAge).UnixNano())
	r.opened.Range(func(kid, _ any) bool {
		if id, ok := kid.(string); !ok || s.byID[id] == nil {
			r.opened.Delete(kid)
		}
		return true
	})
}
