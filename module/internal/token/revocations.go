package token

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// Technical states of the feed: a guard answers 503.
var (
	errNotLoaded = errors.New("token: the revocations were not loaded yet")
	errStale     = errors.New("token: the feed of revocations is lost for too long")
	errFull      = errors.New("token: more revocations than can be held in memory")
)

// maxRevokedValue bounds the name of what is revoked.
const maxRevokedValue = 1024

// RevocationsConfig is what a [Revocations] needs.
type RevocationsConfig struct {
	Store store.Backend
	// MaxStale is how long the last state serves after the feed was lost, default 30 s.
	MaxStale time.Duration
	// MaxTokenLife returns the longest life of any access token that may be alive,
	// those of earlier configurations and other nodes included: a revocation is kept
	// that long.
	MaxTokenLife func() time.Duration
	// Limit is the number of revocations held in memory, default 1,000,000 (about
	// 200 MB). Beyond it tokens are not judged (503) until enough have expired: a
	// guard that forgot some would let revoked tokens in.
	Limit int
	// Log tells of the loss and return of the feed; nil is silent.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// Revocations is what this process knows to be revoked, fed from the store. It is
// safe for concurrent use.
type Revocations struct {
	store    store.Backend
	maxStale time.Duration
	maxLife  func() time.Duration
	log      *slog.Logger
	now      func() time.Time

	keyChanges atomic.Uint64 // counts the revocations of keys that came
	first      chan struct{} // closed when one load was complete

	mu      sync.RWMutex
	set     revocationSet
	attempt int       // counts the loads begun
	loaded  bool      // one load was complete
	live    bool      // the feed runs and its load is complete
	lost    time.Time // since when it is not
	full    bool      // the set refused something
	fullAt  int       // in this attempt
	restart context.CancelCauseFunc
}

// NewRevocations checks the configuration. It touches no store.
func NewRevocations(c RevocationsConfig) (*Revocations, error) {
	if c.Store == nil || c.MaxTokenLife == nil || c.MaxStale < 0 || c.Limit < 0 {
		return nil, errors.New("token: revocations need a store, the longest life of a token and no negative limits")
	}
	if c.MaxStale == 0 {
		c.MaxStale = 30 * time.Second
	}
	if c.Limit == 0 {
		c.Limit = 1_000_000
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	began := c.Now()
	return &Revocations{
		store: c.Store, maxStale: c.MaxStale, maxLife: c.MaxTokenLife, log: c.Log, now: c.Now,
		first: make(chan struct{}), set: newRevocationSet(c.Limit, func() time.Duration { return c.Now().Sub(began) }), restart: func(error) {},
	}, nil
}

// Revoke makes every guard refuse something. When it returns nil the revocation is
// durable and in force in this process; other nodes follow within a second. A zero
// At is now. After an error the revocation may have been stored all the same.
func (r *Revocations) Revoke(ctx context.Context, rv store.Revocation) error {
	now := r.now()
	if rv.At.IsZero() {
		rv.At = now
	}
	if !r.set.knows(rv.Of) || rv.Value == "" || len(rv.Value) > maxRevokedValue {
		return fmt.Errorf("token: cannot revoke a %q with a name of %d bytes", rv.Of, len(rv.Value))
	}
	value, err := store.Encode(&rv)
	if err != nil {
		return err
	}
	record := store.Record{Key: rv.Key(), Parent: store.RevocationParent, Value: value, Expires: r.expiry(rv, now)}
	if _, err := r.store.Create(ctx, record); err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("token: storing a revocation: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.add(rv, record.Expires)
}

// expiry is when no token that rv concerns can be alive. A revoked key has none: who
// stole it gives his forgeries the expiry he likes.
func (r *Revocations) expiry(rv store.Revocation, now time.Time) time.Time {
	if rv.Of == store.RevokeKey {
		return time.Time{}
	}
	if rv.At.After(now) {
		now = rv.At
	}
	return now.Add(r.maxLife() + 2*Leeway)
}

// add needs mu.
func (r *Revocations) add(rv store.Revocation, expires time.Time) error {
	if r.set.add(rv, expires, r.now()) {
		if rv.Of == store.RevokeKey {
			r.keyChanges.Add(1)
		}
		return nil
	}
	r.full, r.fullAt = true, r.attempt
	r.restart(errFull) // only a complete load that finds room tells that nothing is missing
	return errFull
}

// Check reports whether a token is revoked. A revocation of a user or of a user at one
// client concerns tokens of a smaller epoch. One of a client, or of a user by an earlier
// release, concerns tokens issued until its moment, in whole seconds: a token issued in
// the same second afterwards is refused too, rather than one from before it accepted.
// An error is technical: what is revoked is not known well enough.
func (r *Revocations) Check(a *Access) (revoked bool, err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	switch {
	case r.set.revokes(a):
		return true, nil
	case !r.loaded:
		return false, errNotLoaded
	case r.full:
		return false, errFull
	case !r.live && r.now().Sub(r.lost) > r.maxStale:
		return false, errStale
	}
	return false, nil
}

// KeyRevoked reports whether a key is known to be revoked, by its kid.
func (r *Revocations) KeyRevoked(kid string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.set.of[store.RevokeKey][kid]
	return ok
}
