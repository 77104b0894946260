package revocationlist

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/store"
)

// Technical states of the feed: a guard answers 503.
var (
	errNotLoaded = errors.New("revocationlist: the revocations were not loaded yet")
	errStale     = errors.New("revocationlist: the feed of revocations is lost for too long")
)

// maxValue bounds the name of what is revoked.
const maxValue = 1024

// Config is what a [List] needs.
type Config struct {
	Store store.Backend
	// StaleAfter is how long the last state serves after the feed was lost, default 30 s.
	StaleAfter time.Duration
	// MaxTokenLife returns the longest life of any access token that may be alive, those of earlier configurations
	// and other nodes included: a revocation is kept that long.
	MaxTokenLife func() time.Duration
	// Limit is the number of revocations held in memory, default 1,000,000 (about 90 MB). Beyond it those that expire
	// first give way to marks: what their client was issued until then is refused. When marks, and revocations that name
	// no client, fill nearly all, what everyone was issued until then is refused.
	Limit int
	// Log reports the loss and return of the feed; nil is silent.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// List is what this process knows to be revoked, fed from the store. It is safe for concurrent use.
type List struct {
	Config
	keysRevoked atomic.Uint64 // how many revocations of keys have arrived
	first       chan struct{} // closed when one load was complete
	completed   chan struct{} // has room for one

	mu      sync.RWMutex
	set     *set
	attempt int       // counts the loads begun
	loaded  bool      // one load was complete
	live    bool      // the feed runs and its load is complete
	lost    time.Time // since when it is not
	fault   error     // why the last load failed
	arrived int       // how many revocations the feed delivered
	epoch   int64     // the highest of any revocation so far
	warned  int       // how many were folded when that was last logged
	nextLog time.Time // not before
}

// Token is what of an access token can be revoked.
type Token struct {
	ID, Grant, KeyID, Subject, Client string
	IssuedAt                          time.Time
	Epochs                            store.Epochs
}

// New checks the configuration. It touches no store.
func New(c Config) (*List, error) {
	if c.Store == nil || c.MaxTokenLife == nil || c.StaleAfter < 0 || c.Limit < 0 {
		return nil, errors.New("revocationlist: a store and the longest life of a token are needed, and no negative limits")
	}
	if c.StaleAfter == 0 {
		c.StaleAfter = 30 * time.Second
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
	return &List{
		Config: c, first: make(chan struct{}), completed: make(chan struct{}, 1),
		set: newSet(c.Limit, func() time.Duration { return c.Now().Sub(began) }),
	}, nil
}

// Revoke makes every guard refuse something. When it returns nil the revocation is durable and in force in this
// process; other nodes follow within a second. A zero At is now. After an error the revocation may have been stored
// all the same.
func (l *List) Revoke(ctx context.Context, rv store.Revocation) error {
	now := l.Now()
	if rv.At.IsZero() {
		rv.At = now
	}
	if kindOf(rv.Of) < 0 || rv.Value == "" || len(rv.Value) > maxValue {
		return fmt.Errorf("revocationlist: cannot revoke a %q with a name of %d bytes", rv.Of, len(rv.Value))
	}
	expires := l.expiry(rv, now)
	if err := l.createNotice(ctx, rv, expires); err != nil {
		return fmt.Errorf("revocationlist: storing a revocation: %w", err)
	}
	l.addAll(ctx, []revoked{{rv, expires}})
	return nil
}

// createNotice stores a revocation and makes sure that it is kept until expires. A notice that exists already may come from
// an earlier attempt that failed halfway: tokens issued since then may outlive it.
func (l *List) createNotice(ctx context.Context, rv store.Revocation, expires time.Time) error {
	notice := store.Record{Key: rv.Key(), Parent: store.RevocationParent, Expires: expires}
	created, err := l.create(ctx, notice, rv)
	if created || err != nil || expires.IsZero() {
		return err
	}
	switch there, err := l.Store.Get(ctx, notice.Key); {
	case err == nil && !there.Expires.Before(expires):
		return nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	}
	notice.Expires = expires.Add(time.Minute - 1).Truncate(time.Minute) // of many repetitions few are stored
	notice.Key = rv.KeyUntil(notice.Expires)
	_, err = l.create(ctx, notice, rv)
	return err
}

// create stores a notice; created is false when it is there already.
func (l *List) create(ctx context.Context, notice store.Record, rv store.Revocation) (created bool, err error) {
	_, err = store.Create(ctx, l.Store, notice, &rv)
	if errors.Is(err, store.ErrExists) {
		return false, nil
	}
	return err == nil, err
}

// expiry is when no token that rv concerns can be alive. Revocations of keys never expire: whoever stole a key gives
// forged tokens any expiry.
func (l *List) expiry(rv store.Revocation, now time.Time) time.Time {
	if rv.Of == store.RevokeKey {
		return time.Time{}
	}
	if rv.At.After(now) {
		now = rv.At
	}
	return now.Add(l.MaxTokenLife() + 2*jose.Leeway)
}

// revoked is a revocation and when its record expires.
type revoked struct {
	store.Revocation
	expires time.Time
}

// addAll puts revocations in force.
func (l *List) addAll(ctx context.Context, all []revoked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	for _, rv := range all {
		l.set.add(kindOf(rv.Of), rv.Revocation, rv.expires, now)
		l.epoch = max(l.epoch, rv.Epoch)
		if rv.Of == store.RevokeKey {
			l.keysRevoked.Add(1)
		}
	}
	if l.set.folded > l.warned && !now.Before(l.nextLog) {
		l.warned, l.nextLog = l.set.folded, now.Add(time.Minute)
		l.Log.LogAttrs(ctx, slog.LevelWarn, "more revocations are alive than fit: older tokens of the same clients are refused too, and have to be refreshed",
			slog.Int("limit", l.Limit), slog.Int("folded", l.set.folded))
	}
}

// Revoked reports whether a token is revoked. A revocation of a user, or of a user at one client, concerns tokens of
// a smaller epoch. One of a client, or of a user by an earlier release, concerns tokens issued until its moment, in
// whole seconds: a token issued later in the same second is refused too, rather than accepting one from before. An
// error is technical: what is revoked is not known well enough.
func (l *List) Revoked(t Token) (bool, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	switch {
	case l.set.revokes(&t):
		return true, nil
	case !l.loaded && l.arrived == 0:
		return false, errNotLoaded
	case !l.loaded:
		return false, fmt.Errorf("%w: %d have arrived so far", errNotLoaded, l.arrived)
	case !l.live && l.Now().Sub(l.lost) > l.StaleAfter:
		return false, errStale
	}
	return false, nil
}

// Held returns how many revocations are in memory, and how many may be.
func (l *List) Held() (n, limit int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.set.size, l.set.limit
}

// KeyRevoked reports whether a key is known to be revoked, by its kid.
func (l *List) KeyRevoked(kid string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.set.findEntry(ofKey, kid) != nil
}

// KeysRevoked counts the revocations of keys that have arrived, for caches of keys.
func (l *List) KeysRevoked() uint64 { return l.keysRevoked.Load() }

// Completed receives after each complete load, or after several.
func (l *List) Completed() <-chan struct{} { return l.completed }

// LastEpoch returns the highest epoch of any end of a user or pair that this process was told of, even if the store has
// forgotten it.
func (l *List) LastEpoch() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.epoch
}

// WaitLoaded waits until the revocations were fully loaded once, so that tokens can be judged. Its error is that of
// the context.
func (l *List) WaitLoaded(ctx context.Context) error {
	select {
	case <-l.first:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maxFirstLoads is how many loads a start waits for, each of which failed.
const maxFirstLoads = 5

// WaitFirstLoad is WaitLoaded without a limit for the whole: it gives up when nothing has arrived for patience, or when
// one load after the other fails. The error says how far they came and why the last one failed.
func (l *List) WaitFirstLoad(patience time.Duration) error {
	for before := -1; ; {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := l.WaitLoaded(ctx)
		cancel()
		if err == nil {
			return nil
		}
		l.mu.RLock()
		arrived, fault, attempt := l.arrived, l.fault, l.attempt
		l.mu.RUnlock()
		if arrived <= before || arrived == 0 || attempt > maxFirstLoads {
			return errors.Join(fmt.Errorf("revocationlist: the revocations were not loaded: %d arrived in %d attempts", arrived, attempt), fault)
		}
		before = arrived
	}
}

// Staleness is how long ago what this process knows was complete: 0 while the feed runs, else the time since it was
// lost. known is false before the first complete load.
func (l *List) Staleness() (since time.Duration, known bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.loaded || l.live {
		return 0, l.loaded
	}
	return max(0, l.Now().Sub(l.lost)), true
}
