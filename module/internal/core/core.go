// Package core holds what a gateway keeps in memory about one store, across configurations: signing
// keys, revocations, verified tokens, and users where no other directory is configured. It
// verifies tokens by them. It knows neither Caddy nor HTTP.
package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"github.com/gatehouse/gatehouse/module/internal/readiness"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/userstore"
	"github.com/gatehouse/gatehouse/module/store"
)

// Key is everything that a core is made from, besides the store itself.
type Key struct {
	Store    any    // the store's identity
	Secrets  string // digest of the configured secrets, "" for the store's own
	MaxStale time.Duration
}

// Core is what the gateway holds in memory about a store.
type Core struct {
	Store       *lazy.Store
	Ring        *keyring.Ring
	Revocations *revocationlist.List
	Users       *userstore.Users
	Sweeper     *ending.Sweeper
	Probe       *readiness.Probe
	Tending     KeyTending

	verifier *token.Verifier
	// life is the longest life of an access token under any configuration so far,
	// in nanoseconds: how long a revocation must be kept.
	life atomic.Int64
	// ready saves later requests from asking whether the revocations are loaded.
	ready atomic.Bool

	secrets [][]byte
	keysMu  sync.Mutex
	keys    *secret.Keys

	feedMu sync.Mutex
	stop   context.CancelFunc
	done   chan struct{}
}

// New makes the core of a store, and touches nothing. log names a logger that outlives the
// configuration. secrets are the configured ones.
func New(s *lazy.Store, secrets [][]byte, key Key, log func(name string) *slog.Logger) (c *Core, err error) {
	c = &Core{Store: s, secrets: secrets}
	c.Revocations, err = revocationlist.New(revocationlist.Config{
		Store: s, StaleAfter: key.MaxStale, Log: log("revocations"), MaxTokenLife: c.TokenLife,
	})
	if err != nil {
		return nil, err
	}
	c.Ring, err = keyring.New(keyring.Config{
		Store: s, Keys: c.Keys, Revocations: c.Revocations, MaxTokenLife: c.maxLife,
		RotateEvery: c.Tending.Age, Record: c.Tending.record, Log: log("keys"),
	})
	if err != nil {
		return nil, err
	}
	c.Probe = readiness.NewProbe(s, c.Ring.CheckSigners)
	if c.Users, err = userstore.New(userstore.Config{Store: s}); err != nil {
		return nil, err
	}
	if c.Sweeper, err = ending.NewSweeper(ending.SweeperConfig{Store: s, Revocations: c.Revocations, Log: log("sweep")}); err != nil {
		return nil, err
	}
	c.verifier, err = token.NewVerifier(token.VerifierConfig{Ring: c.Ring, Revocations: c.Revocations})
	return c, err
}

// Keys returns the configured secrets, or the one the store keeps.
func (c *Core) Keys(ctx context.Context) (*secret.Keys, error) {
	c.keysMu.Lock()
	defer c.keysMu.Unlock()
	if c.keys != nil {
		return c.keys, nil
	}
	secrets := c.secrets
	if len(secrets) == 0 {
		own, err := c.Store.Secret(ctx)
		if err != nil {
			return nil, err
		}
		secrets = [][]byte{own}
	}
	keys, err := secret.NewKeys(secrets...)
	if err != nil {
		return nil, err
	}
	c.keys = keys
	return keys, nil
}

// follow starts the background work, unless it runs: following the store's revocations, rotating
// its signing keys and deleting what was ended.
func (c *Core) follow() {
	c.feedMu.Lock()
	defer c.feedMu.Unlock()
	if c.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	c.stop, c.done = cancel, done
	go func() {
		defer close(done)
		var all sync.WaitGroup
		all.Go(func() { _ = c.Revocations.Run(ctx) }) // ends with ctx only, as the next
		all.Go(func() { _ = c.Ring.Run(ctx) })
		all.Go(func() { _ = c.Sweeper.Run(ctx) })
		all.Go(func() { c.keepEpochs(ctx) })
		all.Wait()
	}()
}

// lookEvery is the time between two looks at the counter of epochs.
const lookEvery = time.Second

// keepEpochs raises the store's counter of epochs whenever the store has lost its last writes, until ctx ends. It looks
// after each complete load of the revocations, and every second: in a Redis Cluster, the server with the counter may be
// the only one that has lost any, which no load shows.
func (c *Core) keepEpochs(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		case <-c.Revocations.Completed():
		}
		if last := c.Revocations.LastEpoch(); last > 0 {
			_, _ = ending.RaiseCounter(ctx, c.Store, last) // after a fault the next look tries again
		}
	}
}

func (c *Core) maxLife() time.Duration { return time.Duration(c.life.Load()) }

// TokenLife is the longest life of any access token that may be valid, including those that
// earlier processes and other nodes issued, which the ring knows of.
func (c *Core) TokenLife() time.Duration { return max(c.maxLife(), c.Ring.MaxLife()) }

// Warm opens the store, follows it and prepares what the first request would otherwise wait for. ctx does not limit how
// long the revocations may take to load.
func (c *Core) Warm(ctx context.Context) error {
	if _, err := c.Store.Open(ctx); err != nil {
		return err
	}
	if err := c.readSecrets(ctx); err != nil {
		return err
	}
	c.follow()
	return c.Revocations.WaitFirstLoad(loadPatience)
}

// loadPatience is how long a start waits for the next revocations of the first load, which may be many.
const loadPatience = 10 * time.Second

// secretsPatience is how long a start keeps trying to read the secrets: when a whole machine starts, the
// store may be reached and still answer late. It pauses for secretsPause between tries.
const (
	secretsPatience = 5 * time.Second
	secretsPause    = 50 * time.Millisecond
)

// readSecrets reads the secrets and the signing keys, or makes the first ones.
func (c *Core) readSecrets(ctx context.Context) error {
	for began := time.Now(); ; time.Sleep(secretsPause) {
		_, err := c.Keys(ctx)
		if err == nil {
			err = c.refuseUnfinishedMove(ctx)
		}
		if errors.Is(err, errUnfinishedMove) {
			return err
		}
		if err == nil {
			_, err = c.Ring.List(ctx) // how long revocations are kept depends on what the keys have signed
		}
		if err == nil || ctx.Err() != nil || time.Since(began) >= secretsPatience {
			return err
		}
	}
}

var errUnfinishedMove = errors.New("the records of another store are being moved into this one, or that was interrupted: run `caddy gatehouse move` again, or empty the store")

// refuseUnfinishedMove keeps a gateway from using half of the records, and from changing those that are compared.
func (c *Core) refuseUnfinishedMove(ctx context.Context) error {
	var m store.Move
	_, err := store.Read(ctx, c.Store, store.MoveKey(), &m)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%w (from %s, begun %s)", errUnfinishedMove, m.From, m.Begun.UTC().Format(time.DateTime))
	}
	return err
}

// firstLoad is how long a request waits for the revocations to be loaded: just after the start, a
// late response is better than an error.
const firstLoad = 2 * time.Second

// Verify verifies a token by keys and revocations, whatever clients and users there are.
func (c *Core) Verify(ctx context.Context, raw string) (*token.Access, error) {
	if !c.ready.Load() {
		c.follow()
		wait, cancel := context.WithTimeout(ctx, firstLoad)
		defer cancel()
		c.ready.Store(c.Revocations.WaitLoaded(wait) == nil) // otherwise the verifier says why
	}
	return c.verifier.Verify(ctx, raw)
}

// ResizeTokenCache has verified tokens take at most so many bytes, 0 for the default.
func (c *Core) ResizeTokenCache(size int64) { c.verifier.ResizeCache(size) }

// TokenCache says which verified tokens are held.
func (c *Core) TokenCache() token.CacheStats { return c.verifier.CacheStats() }

// KeepFor makes revocations last at least as long as tokens that live for d.
func (c *Core) KeepFor(d time.Duration) {
	for {
		old := c.life.Load()
		if int64(d) <= old || c.life.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// Destruct ends the background work. A late request that still needs it starts it again.
func (c *Core) Destruct() error {
	c.feedMu.Lock()
	stop, done := c.stop, c.done
	c.stop, c.done = nil, nil
	c.feedMu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
	return nil
}
