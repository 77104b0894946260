package gateway

import (
	"context"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap/exp/zapslog"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/userstore"
)

// coreKey is everything a core is made from.
type coreKey struct {
	store    any    // the store's identity
	secrets  string // digest of the configured secrets, "" for the store's own
	maxStale time.Duration
}

// core is what the gateway holds in memory about a store and keeps across
// configurations: keys, revocations, verified
// tokens and, where no other directory is configured, users.
type core struct {
	store       *lazy.Store
	ring        *token.Ring
	revocations *token.Revocations
	verifier    *token.Verifier
	users       *userstore.Users

	// life is the longest life of an access token under any configuration so far,
	// in nanoseconds: how long a revocation must be kept.
	life atomic.Int64

	tending keyTending

	// ready spares later requests the question whether the revocations are loaded.
	ready atomic.Bool

	probe   *storeProbe
	writes  writeProbe
	sweeper *ending.Sweeper

	secrets [][]byte
	keysMu  sync.Mutex
	keys    *secret.Keys

	feedMu sync.Mutex
	stop   context.CancelFunc
	done   chan struct{}
}

var cores = caddy.NewUsagePool()

// logger is for what outlives a configuration, whose own logger ends with it.
func logger(name string) *slog.Logger {
	return slog.New(zapslog.NewHandler(caddy.Log().Core(), zapslog.WithName("gatehouse."+name)))
}

func newCore(s *lazy.Store, secrets [][]byte, key coreKey) (*core, error) {
	c := &core{store: s, secrets: secrets}
	c.probe = &storeProbe{look: c.look}
	var err error
	c.revocations, err = token.NewRevocations(token.RevocationsConfig{
		Store: c.store, MaxStale: key.maxStale, Log: logger("revocations"), MaxTokenLife: c.tokenLife,
	})
	if err != nil {
		return nil, err
	}
	c.ring, err = token.NewRing(token.RingConfig{
		Store: c.store, Keys: c.Keys, Revocations: c.revocations, MaxTokenLife: c.maxLife,
		RotateEvery: c.tending.every, Record: c.tending.record, Log: logger("keys"),
	})
	if err != nil {
		return nil, err
	}
	if c.users, err = userstore.New(userstore.Config{Store: c.store}); err != nil {
		return nil, err
	}
	if c.sweeper, err = ending.NewSweeper(ending.SweeperConfig{Store: c.store, Log: logger("sweep")}); err != nil {
		return nil, err
	}
	c.verifier, err = token.NewVerifier(token.VerifierConfig{Ring: c.ring, Revocations: c.revocations})
	return c, err
}

// Keys returns the configured secrets, or the one the store keeps.
func (c *core) Keys(ctx context.Context) (*secret.Keys, error) {
	c.keysMu.Lock()
	defer c.keysMu.Unlock()
	if c.keys != nil {
		return c.keys, nil
	}
	secrets := c.secrets
	if len(secrets) == 0 {
		own, err := c.store.Secret(ctx)
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

// follow begins to follow the revocations of the store, to look after its signing keys and
// to delete what was ended, if that has not begun yet.
func (c *core) follow() {
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
		all.Go(func() { _ = c.revocations.Run(ctx) }) // ends with ctx only, as the next
		all.Go(func() { _ = c.ring.Run(ctx) })
		all.Go(func() { _ = c.sweeper.Run(ctx) })
		all.Wait()
	}()
}

func (c *core) maxLife() time.Duration { return time.Duration(c.life.Load()) }

// tokenLife is the longest life of any access token that may be alive: the ring knows of
// those that earlier processes and other nodes allowed.
func (c *core) tokenLife() time.Duration { return max(c.maxLife(), c.ring.Life()) }

// warm opens the store, begins to follow it and makes what the first request would
// otherwise wait for.
func (c *core) warm(ctx context.Context) error {
	if _, err := c.store.Open(ctx); err != nil {
		return err
	}
	// When a whole machine starts, the store is reached and may still answer late.
	err := c.readSecrets(ctx)
	for try := 1; err != nil && try < warmTries && ctx.Err() == nil; try++ {
		err = c.readSecrets(ctx)
	}
	if err != nil {
		return err
	}
	c.follow()
	return c.revocations.WaitLoaded(ctx)
}

// warmTries is how often a start reads the secrets before it gives up.
const warmTries = 3

// readSecrets reads the gateway's secrets and keys, or makes the first ones. How long revocations
// are kept depends on what the keys have signed.
func (c *core) readSecrets(ctx context.Context) error {
	if _, err := c.Keys(ctx); err != nil {
		return err
	}
	_, err := c.ring.List(ctx)
	return err
}

// firstLoad is how long a request waits for the revocations to be loaded: in the first moments
// of the process a late answer is better than an error.
const firstLoad = 2 * time.Second

// Verify implements guard.Verifier.
func (c *core) Verify(ctx context.Context, raw string) (*token.Access, error) {
	if !c.ready.Load() {
		c.follow()
		wait, cancel := context.WithTimeout(ctx, firstLoad)
		defer cancel()
		c.ready.Store(c.revocations.WaitLoaded(wait) == nil) // otherwise the verifier says why
	}
	return c.verifier.Verify(ctx, raw)
}

// keepFor makes revocations last at least as long as tokens that live for d.
func (c *core) keepFor(d time.Duration) {
	for {
		old := c.life.Load()
		if int64(d) <= old || c.life.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// Destruct ends what a core does by itself. Should a late request still need it, it
// begins anew.
func (c *core) Destruct() error {
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
