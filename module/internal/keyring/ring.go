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
	// Store keeps the ring. It is not used before the first key is needed.
	Store store.Backend
	// Keys returns the secrets that seal private keys. It is called when a key first signs. Its errors are
	// technical.
	Keys func(context.Context) (*secret.Keys, error)
	// Revocations records which keys are revoked.
	Revocations *revocationlist.List
	// MaxTokenLife returns the longest lifetime of any token that this node's configuration lets it sign.
	// Default: an hour.
	MaxTokenLife func() time.Duration
	// RotateEvery returns the age at which [Ring.Tend] replaces a key. If it is nil or returns
	// 0, keys are never replaced.
	RotateEvery func() time.Duration
	// Record, if not nil, is called for each key that this node made or revoked.
	Record func(context.Context, Change)
	// Log reports failures of [Ring.Run]. nil means no log.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// Ring is the key ring that all nodes share through one record in the store, as this process knows it. It is read at
// first use, when it is older than a minute, and for a token that names an unknown key. It is safe for concurrent
// use.
type Ring struct {
	Config
	current atomic.Pointer[snapshot]
	due     atomic.Int64 // when to read again, in Unix nanoseconds
	looked  atomic.Int64 // when a revoked key last caused a read
	reads   singleflight.Group

	access  sync.Mutex // held during access to the record, so that the last one read is the newest
	sought  time.Time  // last read for an unknown kid; guarded by access
	seekErr error      // why that read failed; guarded by access
}

// New checks the configuration. It uses neither the store nor the secrets.
func New(c Config) (*Ring, error) {
	if c.Store == nil || c.Keys == nil || c.Revocations == nil {
		return nil, errors.New("keyring: store, secrets and revocations are required")
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

// Format keeps private keys out of logs that print a ring.
func (r *Ring) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "keyring.Ring") }

// PublicKeys returns the JWK set (RFC 7517 section 5) of all keys that may have signed an unexpired token or will
// sign. It makes missing keys for the given algorithms, because a relying party may fetch the keys before the
// first token is signed. Errors are technical.
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

// Lookup finds the key with a kid. It returns nil for a kid that no token of the gateway can have. An error
// means that the state of the ring is not known well enough to tell.
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

// MaxLife returns the longest lifetime of any token that a key of the ring may have signed, as far as this process
// has read the ring. It exceeds the configured one if an earlier configuration, or another node's, allowed more.
func (r *Ring) MaxLife() time.Duration {
	var life time.Duration
	if s := r.current.Load(); s != nil {
		for _, k := range s.keys {
			life = max(life, k.Life)
		}
	}
	return life
}

// errUnread is the error of a ring before its first use.
var errUnread = errors.New("keyring: the signing keys have not been read yet")

// CheckSigners returns nil if the ring has been read and each signing key can be unsealed with the secret of
// this process. It does not read the store.
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
