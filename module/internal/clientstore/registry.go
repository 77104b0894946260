package clientstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// surveyEvery is how old what is known about the grants of stored clients may be, and what is known about an origin.
	surveyEvery = 2 * time.Second
	// maxOrigins bounds what is remembered of origins, and maxOrigin the length of one, in bytes: a host has 253.
	maxOrigins = 10_000
	maxOrigin  = 512
	// originQuestions is how many origins the store is asked for at a time, and originWait how long one more waits: origins
	// come from anybody, and a preflight is answered under overload too.
	originQuestions = 16
	originWait      = 100 * time.Millisecond
	// seenFor is how long a guard believes what it found about a stored client. One that
	// is deleted is revoked too, which reaches guards at once.
	seenFor = 3 * time.Second
	// MaxSeen bounds the memory for it, some 8 MB; only clients of valid tokens get there.
	MaxSeen = 50_000
	// storeTime bounds a question to the store on behalf of several requests.
	storeTime = 2 * time.Second
)

// Registry is the clients of one configuration and, besides them, those in the store. A configured
// one takes precedence, whatever is stored under its id.
type Registry struct {
	Configured map[string]*oauth.Client // by id
	Stored     *Clients
	// Complete means that there are no clients besides these. It is false where neither a client
	// nor a site with `oauth_server` is configured: guards there take the tokens of a server
	// elsewhere. It is set while the configuration is provisioned, and never later.
	Complete bool

	origins []string // of configured clients, sorted
	until   grantEnds
	asking  singleflight.Group
	// patience is how long a guard believes what it found last while the store does not answer.
	patience time.Duration

	mu          sync.RWMutex
	surveyed    time.Time
	surveying   bool
	storedUntil grantEnds
	seen        map[string]sighting
	mostSeen    int

	originTurns chan struct{} // has room for originQuestions
	seenOrigins map[string]sighting
	checked     time.Time // when this node last saw to the index of clients
}

// sighting is what a guard found about a stored client.
type sighting struct {
	at    time.Time // when the store was asked last
	there bool      // what it said last
	lost  time.Time // since when it does not answer; zero: it did
}

// grantEnds says until when some client has each of [oauth.OptionalGrantTypes]; those
// that are not deprecated have no end.
type grantEnds map[oauth.GrantType]time.Time

func (o grantEnds) addClient(c *oauth.Client) {
	for _, g := range oauth.OptionalGrantTypes {
		if !hasOptional(c, g) {
			continue
		}
		end := c.Until[g]
		if last, known := o[g]; !known || end.After(last) {
			o[g] = end
		}
	}
}

// hasOptional reports whether a client has an optional grant type. It may have ended.
func hasOptional(c *oauth.Client, g oauth.GrantType) bool {
	_, dated := c.Until[g]
	return c.MayUse(g) && (dated || !slices.Contains(oauth.DeprecatedGrantTypes, g))
}

func (o grantEnds) has(g oauth.GrantType, now time.Time) bool {
	end, ok := o[g]
	return ok && (end.IsZero() || now.Before(end))
}

// NewRegistry makes the registry of a configuration; stored describes the clients in the store,
// except for Taken. patience is how long guards go on without the store.
func NewRegistry(configured []*oauth.Client, stored Config, patience time.Duration) (*Registry, error) {
	r := &Registry{
		Configured: make(map[string]*oauth.Client, len(configured)), Complete: len(configured) > 0,
		until: grantEnds{}, patience: patience, seen: make(map[string]sighting), mostSeen: MaxSeen,
		seenOrigins: make(map[string]sighting), originTurns: make(chan struct{}, originQuestions),
	}
	for _, c := range configured {
		if r.Configured[c.ID] != nil {
			return nil, fmt.Errorf("client %s is declared twice", c.ID)
		}
		r.Configured[c.ID] = c
		r.origins = append(r.origins, c.CORSOrigins()...)
		r.until.addClient(c)
	}
	slices.Sort(r.origins)
	r.origins = slices.Compact(r.origins)
	stored.Taken = func(id string) bool { return r.Configured[id] != nil }
	var err error
	r.Stored, err = New(stored)
	return r, err
}

// Client finds a client. ok is false for an unknown one; errors are technical.
func (r *Registry) Client(ctx context.Context, id string) (c *oauth.Client, ok bool, err error) {
	if found, ok := r.Configured[id]; ok {
		return found, true, nil
	}
	return r.Stored.Client(ctx, id)
}

// AllowsOrigin reports whether it is an origin of a client of the configuration, or of a stored one as of [surveyEvery]
// ago at most. Without the store it is what was known last.
func (r *Registry) AllowsOrigin(origin string) bool {
	if _, ok := slices.BinarySearch(r.origins, origin); ok {
		return true
	}
	if len(origin) > maxOrigin || oauth.CheckOrigin(origin) != nil {
		return false
	}
	now := r.Stored.Now()
	r.mu.RLock()
	last, known := r.seenOrigins[origin]
	r.mu.RUnlock()
	if known && now.Sub(last.at) < surveyEvery {
		return last.there
	}
	there, _, _ := r.asking.Do("origin "+origin, func() (any, error) { return r.lookUpOrigin(origin, last.there), nil })
	return there == true
}

// lookUpOrigin asks the store for an origin. before is the answer if that fails.
func (r *Registry) lookUpOrigin(origin string, before bool) bool {
	timer := time.NewTimer(originWait)
	defer timer.Stop()
	select {
	case r.originTurns <- struct{}{}:
		defer func() { <-r.originTurns }()
	case <-timer.C:
		return before
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	at := r.Stored.Now()
	r.checkIndex(ctx, at)
	there, err := r.Stored.hasOrigin(ctx, origin)
	if err != nil {
		there = before
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	remember(r.seenOrigins, origin, sighting{at: at, there: there}, maxOrigins)
	return there
}

// checkIndex has the index of clients checked from time to time. The first question of a process waits for that, as
// the store may be of an earlier release.
func (r *Registry) checkIndex(ctx context.Context, now time.Time) {
	r.mu.Lock()
	first := r.checked.IsZero()
	due := first || now.Sub(r.checked) >= checkEvery
	if due {
		r.checked = now
	}
	r.mu.Unlock()
	if !due {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkEvery/2)
		defer cancel()
		if r.Stored.checkIndex(ctx) != nil { // the store is away, or a node that may have stopped does it: soon again
			r.mu.Lock()
			r.checked = now.Add(checkLease - checkEvery)
			r.mu.Unlock()
		}
	}()
	if first {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
}

// OptionalGrants lists those that some client has, of the configuration or, as of [surveyEvery]
// ago at most, of the store.
func (r *Registry) OptionalGrants() []oauth.GrantType {
	now := time.Now()
	stored := r.storedGrants()
	var open []oauth.GrantType
	for _, g := range oauth.OptionalGrantTypes {
		if r.until.has(g, now) || stored.has(g, now) {
			open = append(open, g)
		}
	}
	return open
}

// Exists reports for guards whether a client is configured or in the store, as of [seenFor] ago
// at most, or when the store answered last. Errors are technical. A hit allocates nothing.
func (r *Registry) Exists(ctx context.Context, id string) (bool, error) {
	if r.Configured[id] != nil {
		return true, nil
	}
	r.mu.RLock()
	last, ok := r.seen[id]
	r.mu.RUnlock()
	if ok && r.Stored.Now().Sub(last.at) < seenFor {
		return last.there, nil
	}
	answer := r.asking.DoChan(id, func() (any, error) { return r.lookUp(id) })
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case found := <-answer:
		there, _ := found.Val.(bool)
		return there, found.Err
	}
}

// IsSameSince reports whether there is a client of this id and has been since a moment: one that was deleted or removed from
// the configuration later is another, even if its id has come back. Errors are technical.
func (r *Registry) IsSameSince(ctx context.Context, id string, since time.Time) (bool, error) {
	c, there, err := r.Client(ctx, id)
	if err != nil || !there || since.Before(c.Since) {
		return false, err
	}
	return store.HasStayed(ctx, r.Stored.Store, id, since)
}

// lookUp asks the store on behalf of all who wait, even if some of them go away.
func (r *Registry) lookUp(id string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	at := r.Stored.Now()
	_, there, err := r.Stored.Client(ctx, id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		return r.withoutStore(id, at, err)
	}
	remember(r.seen, id, sighting{at: at, there: there}, r.mostSeen)
	return there, nil
}

// remember puts v into a map of limited size. At the limit it replaces an entry for something that does not exist, or
// else, if v exists, an old entry: requests for made-up names never evict real ones.
func remember(seen map[string]sighting, id string, v sighting, limit int) {
	if _, known := seen[id]; !known && len(seen) >= limit {
		leastUseful, ok := chooseForgotten(seen)
		if ok && seen[leastUseful].there && !v.there {
			return
		}
		delete(seen, leastUseful)
	}
	seen[id] = v
}

// examined is how many sightings compete for being forgotten. To find the oldest of all would cost a look at each.
const examined = 16

// chooseForgotten returns one of a few sightings, which a map yields in random order: the oldest of those that were not
// there, else the oldest.
func chooseForgotten(seen map[string]sighting) (id string, ok bool) {
	n := 0
	for other, s := range seen {
		chosen := seen[id]
		if !ok || chosen.there && !s.there || chosen.there == s.there && s.at.Before(chosen.at) {
			id, ok = other, true
		}
		if n++; n == examined {
			break
		}
	}
	return id, ok
}

// withoutStore decides when the store did not answer: a client that was there still is, for as long as guards go on
// without the store. One that is deleted meanwhile is revoked too. The caller holds the lock.
func (r *Registry) withoutStore(id string, at time.Time, err error) (bool, error) {
	last := r.seen[id]
	if last.lost.IsZero() {
		last.lost = at
	}
	if !last.there || at.Sub(last.lost) >= r.patience {
		return false, err
	}
	last.at = at
	r.seen[id] = last
	return true, nil
}

// storedGrants returns the optional grants that stored clients have, read again when that is too old. One caller reads;
// the others, and all when the store is away, get what was known last.
func (r *Registry) storedGrants() grantEnds {
	r.mu.Lock()
	now := r.Stored.Now()
	due := !r.surveying && (r.surveyed.IsZero() || now.Sub(r.surveyed) >= surveyEvery)
	r.surveying = r.surveying || due
	until := r.storedUntil
	r.mu.Unlock()
	if !due {
		return until
	}
	until, err := r.survey()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.surveying, r.surveyed = false, now
	if err == nil {
		r.storedUntil = until
	}
	return r.storedUntil
}

// survey asks the store for one client of each optional grant type: how many there are makes no difference.
func (r *Registry) survey() (grantEnds, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	r.checkIndex(ctx, r.Stored.Now())
	until := grantEnds{}
	for _, g := range oauth.OptionalGrantTypes {
		found, err := r.Stored.anyWith(ctx, grantTerm(g))
		if err != nil {
			return nil, err
		}
		if found != nil {
			until.addClient(found)
		}
	}
	return until, nil
}
