package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	// Keys gives the secrets that seal private keys and the users of pairwise tokens. It
	// is called when a token is signed, and to verify one only if it is pairwise. Its
	// errors are technical.
	Keys func(context.Context) (*secret.Keys, error)
	// Revocations is where keys are revoked; without it none can be.
	Revocations *Revocations
	// MaxTokenLife returns the longest life of any token that is signed under the
	// configuration of this node. Default: an hour.
	MaxTokenLife func() time.Duration
	// RotateEvery returns the age at which [Ring.Tend] has another key take over; 0 or no
	// function: never.
	RotateEvery func() time.Duration
	// Record is told of each key that was made or revoked by this node; nil: nobody is.
	Record func(context.Context, KeyChange)
	// Log tells of failures of [Ring.Run]; nil is silent.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// Ring is the key ring of all nodes, one record in the store, as this process knows
// it. It is read at first use, when it is older than a minute, and for a token that
// names an unknown key.
type Ring struct {
	store       store.Backend
	keys        func(context.Context) (*secret.Keys, error)
	revocations *Revocations
	maxLife     func() time.Duration
	every       func() time.Duration
	record      func(context.Context, KeyChange)
	log         *slog.Logger
	now         func() time.Time

	current atomic.Pointer[snapshot]
	due     atomic.Int64 // when current is to be read again, Unix nanoseconds
	looked  atomic.Int64 // when it was last read again for a revoked key
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
	if c.MaxTokenLife == nil {
		c.MaxTokenLife = func() time.Duration { return time.Hour }
	}
	if c.RotateEvery == nil {
		c.RotateEvery = func() time.Duration { return 0 }
	}
	if c.Record == nil {
		c.Record = func(context.Context, KeyChange) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Ring{
		store: c.Store, keys: c.Keys, revocations: c.Revocations, maxLife: c.MaxTokenLife, every: c.RotateEvery,
		record: c.Record, log: c.Log, now: c.Now,
	}, nil
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
