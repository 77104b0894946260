package keyring

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

	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// Config is what a [Ring] needs.
type Config struct {
	// Store keeps the ring. It is first used when the first key is asked for.
	Store store.Backend
	// Keys returns the secrets that seal private keys. It is called when a key is first used to sign. Its errors are
	// technical.
	Keys func(context.Context) (*secret.Keys, error)
	// Revocations is where keys are revoked.
	Revocations *revocationlist.List
	// MaxTokenLife returns the longest life of any token that is signed under the configuration of this node.
	// Default: an hour.
	MaxTokenLife func() time.Duration
	// RotateEvery returns the age at which [Ring.Tend] replaces a key; 0 or no function: never.
	RotateEvery func() time.Duration
	// Record is called for each key that was made or revoked by this node; optional.
	Record func(context.Context, Change)
	// Log reports failures of [Ring.Run]; nil is silent.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// Ring is the key ring of all nodes, one record in the store, as this process knows it. It is read at first use, when
// it is older than a minute, and for a token that names an unknown key. It is safe for concurrent use.
type Ring struct {
	Config
	current atomic.Pointer[snapshot]
	due     atomic.Int64 // when current is to be read again, Unix nanoseconds
	looked  atomic.Int64 // when it was last read again for a revoked key
	reads   singleflight.Group

	access  sync.Mutex // one access to the record at a time: the last one read is the newest
	sought  time.Time  // the last re-read for an unknown kid; under access
	seekErr error      // why it failed; under access
}

// New checks the configuration. It touches neither store nor secrets.
func New(c Config) (*Ring, error) {
	if c.Store == nil || c.Keys == nil || c.Revocations == nil {
		return nil, errors.New("keyring: a store, secrets and revocations are needed")
	}
	if c.MaxTokenLife == nil {
		c.MaxTokenLife = func() time.Duration { return time.Hour }
	}
	if c.RotateEvery == nil {
		c.RotateEvery = func() time.Duration { return 0 }
	}
	if c.Record == nil {
		c.Record = func(context.Context, Change) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Ring{Config: c}, nil
}

// Format keeps private keys out of every log line that prints a ring.
func (r *Ring) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "keyring.Ring") }

// PublicKeys is the JWK set (RFC 7517 section 5) of all keys that may have signed a living token or are going to
// sign. It makes the missing keys of these algorithms: a relying party may come before the first token. Errors are
// technical.
func (r *Ring) PublicKeys(ctx context.Context, algs ...string) (KeySet, error) {
	for _, alg := range algs {
		if _, err := r.signingKey(ctx, alg); err != nil {
			return KeySet{}, err
		}
	}
	s, err := r.snapshot(ctx)
	if err != nil {
		return KeySet{}, err
	}
	return newKeySet(s.published(r.Now()))
}

// Lookup finds the key of a kid, nil for one that no token of ours can name. An error means that the ring is not
// known well enough to say so.
func (r *Ring) Lookup(ctx context.Context, kid string) (*Key, error) {
	s, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if k := s.byID[kid]; k != nil || len(kid) != kidLength {
		return k, nil
	}
	if s, err = r.share(ctx, "seek", r.seek); err != nil {
		return nil, err
	}
	return s.byID[kid], nil
}

// Cached is [Ring.Lookup] for a key that was found before: it reads the store only if the ring is too old.
func (r *Ring) Cached(ctx context.Context, kid string) (*Key, error) {
	s, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return s.byID[kid], nil
}

// Revoked reports whether a key is retired or revoked.
func (r *Ring) Revoked(k *Key) bool { return k.Retired(r.Now()) || r.Revocations.KeyRevoked(k.Kid) }

// MaxLife is the longest life of any token that a key of the ring may have signed, as far as this process has read
// the ring: longer than that of the configuration if an earlier one, or another node's, allowed more.
func (r *Ring) MaxLife() time.Duration {
	var life time.Duration
	if s := r.current.Load(); s != nil {
		for _, k := range s.keys {
			life = max(life, k.Life)
		}
	}
	return life
}

// errUnread is the state of a ring before its first use.
var errUnread = errors.New("keyring: the signing keys were not read yet")

// CheckSigners returns nil if the ring was read and each key that signs can be opened with the secret of this
// process. It does not read the ring again.
func (r *Ring) CheckSigners(ctx context.Context) error {
	s, now := r.current.Load(), r.Now()
	if s == nil {
		return errUnread
	}
	for _, alg := range s.algorithms(now) {
		k := s.signer(alg, now)
		if k == nil {
			continue // it was revoked at this moment
		}
		if _, err := r.open(ctx, k); err != nil {
			return err
		}
	}
	return nil
}
