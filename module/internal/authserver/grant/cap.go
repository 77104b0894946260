package grant

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// defaultPerPair is the maximum number of live grants of one user at one client, unless
	// configured.
	defaultPerPair = 100
	// maxPerPair keeps the record of a pair below 100 KiB.
	maxPerPair = 1000
	// maxUnlisted is how many grants a user may have, at all clients, before lists of them are kept.
	maxUnlisted = 16
	// grantPage is how many grants are read at a time to begin a list.
	grantPage = 100
	// maxEvictions bounds how many grants one request ends after the configured number was lowered; later requests
	// end the rest.
	maxEvictions = 16
	// deadKept is how long a dead grant and its code are kept: longer than the form that made the code can be sent
	// again, and than any node takes to learn of the end.
	deadKept = 30 * time.Minute
)

// admit makes sure that a stored grant is one of those its user may have at its client, unless the pair was ended since
// the grant's epoch. At the cap the least recently used grant ends first: without a cap a client, or somebody with a
// browser's session, could fill the store in a loop.
//
// A user with few grants, as most users are, cannot have too many at any client: nothing is written for those. From
// then on each pair that gets a grant lists all it has.
func (f *Families) admit(ctx context.Context, g store.Grant) error {
	leave, err := f.pairTurns.enter(ctx, g.Client, g.Subject)
	if err != nil {
		return err
	}
	defer leave()
	var p store.Pair
	// The pair is read after the grant was stored: who begins its list later finds the grant.
	rec, err := store.Read(ctx, f.Store, store.PairKey(g.Client, g.Subject), &p)
	if errors.Is(err, store.ErrNotFound) {
		rec, err = store.Record{Key: store.PairKey(g.Client, g.Subject)}, nil
	}
	rec.Parent = g.Subject
	ended, few := g.Epochs.Pair < p.Epoch, false
	if err == nil && !ended && p.Listed == store.ListsSome {
		few, err = f.hasFew(ctx, g.Subject)
	}
	if err == nil && !ended && !few {
		ended, err = f.listGrant(ctx, rec, p, g)
	}
	if err != nil || !ended {
		return err
	}
	if err := f.Store.Delete(ctx, grantKey(g.ID)); err != nil { // no token of it was issued
		return err
	}
	return f.gone(Revoked)
}

// hasFew reports whether a user has so few grants that they need not be listed.
func (f *Families) hasFew(ctx context.Context, subject string) (bool, error) {
	most := min(maxUnlisted, f.PerPair)
	all, err := f.Store.List(ctx, store.KindGrant, subject, "", most+1)
	return len(all) <= most, err
}

// listGrant adds a grant to the list of its pair, which was just read, and makes room for it. ended says that the pair was
// ended since the grant's epoch.
//
// The list changes when grants begin and end, not when they are refreshed, so an entry's time of use may be too
// early; a grant is read before it is evicted.
func (f *Families) listGrant(ctx context.Context, rec store.Record, p store.Pair, g store.Grant) (ended bool, err error) {
	if p.Listed == store.ListsSome {
		// First that there is a list, and then what was there before: nothing falls between the two.
		rec, err = store.ChangeFrom(ctx, f.Store, rec, &p, func(rec *store.Record) (bool, error) {
			if ended = g.Epochs.Pair < p.Epoch; ended || p.Listed != store.ListsSome {
				return false, nil
			}
			p.Client, p.Subject, p.Listed = g.Client, g.Subject, store.ListsNew
			rec.Expires = latest(rec.Expires, f.entryOf(g).Expires)
			return true, nil
		})
	}
	if err != nil || ended {
		return ended, err
	}
	var earlier []store.PairGrant
	if p.Listed != store.ListsAll {
		if earlier, err = f.earlierGrants(ctx, g); err != nil {
			return false, err
		}
	}
	_, err = store.ChangeFrom(ctx, f.Store, rec, &p, func(rec *store.Record) (bool, error) {
		if ended = g.Epochs.Pair < p.Epoch; ended {
			return false, nil
		}
		now, mine := f.Now(), f.entryOf(g)
		p.Client, p.Subject = g.Client, g.Subject
		p.Grants = slices.DeleteFunc(p.Grants, func(e store.PairGrant) bool { return !now.Before(e.Expires) })
		listed := slices.ContainsFunc(p.Grants, func(e store.PairGrant) bool { return e.ID == g.ID }) // by another request with the same code
		if listed && p.Listed == store.ListsAll {
			return false, nil
		}
		if p.Listed != store.ListsAll {
			p.Listed = store.ListsAll
			for _, e := range earlier {
				if !slices.ContainsFunc(p.Grants, func(known store.PairGrant) bool { return known.ID == e.ID }) {
					p.Grants = append(p.Grants, e)
					rec.Expires = latest(rec.Expires, e.Expires)
				}
			}
		}
		if !listed {
			if err := f.makeRoom(ctx, &p); err != nil {
				return false, err
			}
			p.Grants = append(p.Grants, mine)
			rec.Expires = latest(rec.Expires, mine.Expires)
		}
		return true, nil
	})
	return ended, err
}

// entryOf is how a pair lists a grant.
func (f *Families) entryOf(g store.Grant) store.PairGrant {
	return store.PairGrant{ID: g.ID, Epoch: g.Epochs.Subject, Used: g.RotatedAt, Expires: g.Expires.Add(f.Access)}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// earlierGrants are the other grants of a pair. Those that a newer release wrote are not among them.
func (f *Families) earlierGrants(ctx context.Context, g store.Grant) (found []store.PairGrant, err error) {
	for after := ""; ; {
		page, err := f.Store.List(ctx, store.KindGrant, g.Subject, after, grantPage)
		if err != nil {
			return nil, err
		}
		for _, rec := range page {
			var e store.Grant
			if store.Decode(rec.Value, &e) == nil && e.Client == g.Client && e.ID != g.ID && !e.Revoked() {
				found = append(found, f.entryOf(e))
			}
		}
		if len(page) < grantPage {
			return found, nil
		}
		after = page[len(page)-1].ID
	}
}

// makeRoom removes grants from the list until there is room for one more: dead ones first, then the least recently
// used, which ends.
func (f *Families) makeRoom(ctx context.Context, p *store.Pair) error {
	for evicted := 0; len(p.Grants) >= f.PerPair && evicted < maxEvictions; {
		oldest := 0
		for i, e := range p.Grants {
			if e.Used.Before(p.Grants[oldest].Used) {
				oldest = i
			}
		}
		_, g, err := f.readFamily(ctx, p.Grants[oldest].ID)
		switch absent := errors.Is(err, store.ErrNotFound); {
		case err != nil && !absent:
			return err
		case !absent && g.RotatedAt.After(p.Grants[oldest].Used):
			p.Grants[oldest].Used = g.RotatedAt
			continue
		case !absent && !g.Revoked():
			if err := f.evictFamily(ctx, g); err != nil {
				return err
			}
			evicted++
		}
		p.Grants = slices.Delete(p.Grants, oldest, oldest+1)
	}
	return nil
}

// evictFamily ends a grant, and lets its records expire soon. A grant that died with its user does not count as
// evicted.
func (f *Families) evictFamily(ctx context.Context, g store.Grant) error {
	if dead, err := ending.Ended(ctx, f.Store, g.Subject, g.Client, g.Epochs); err != nil || dead {
		return err
	}
	if err := f.Revocations.Revoke(ctx, f.revocationOf(g)); err != nil {
		return err
	}
	_, marked, err := f.markRevoked(ctx, g.ID)
	if err != nil || !marked {
		return err
	}
	f.Evicted()
	f.Audit.Record(ctx, audit.Event{Name: audit.GrantEvicted, Client: g.Client, Subject: g.Subject, Grant: g.ID, Scopes: g.Scopes})
	return f.expireCode(ctx, g)
}

// expireCode lets the record of a dead grant's code expire soon.
func (f *Families) expireCode(ctx context.Context, g store.Grant) error {
	if g.Code == "" {
		return nil
	}
	code, err := f.Store.Get(ctx, store.Key{Kind: store.KindCode, ID: g.Code})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return ending.Expire(ctx, f.Store, code, f.Now().Add(deadKept))
}

// unlist removes a dead grant from the list of its pair, to make room for live ones. If that fails, the grant
// occupies a place on the list until it would have expired, so the error is ignored.
func (f *Families) unlist(ctx context.Context, g store.Grant) {
	var p store.Pair
	_, _ = store.Change(ctx, f.Store, store.Record{Key: store.PairKey(g.Client, g.Subject)}, &p, func(*store.Record) (bool, error) {
		n := len(p.Grants)
		p.Grants = slices.DeleteFunc(p.Grants, func(e store.PairGrant) bool { return e.ID == g.ID })
		return len(p.Grants) < n, nil
	})
}

// pairTurns serializes the requests of one node that change the record of the same pair, so that they do not
// conflict. Pairs share turns.
type pairTurns [64]chan struct{}

// turnTimeout is how long a request waits for its turn. After that it continues without one, and the record's
// version decides.
const turnTimeout = time.Second

func newPairTurns() *pairTurns {
	t := new(pairTurns)
	for i := range t {
		t[i] = make(chan struct{}, 1)
	}
	return t
}

func (t *pairTurns) enter(ctx context.Context, client, subject string) (leave func(), err error) {
	id := store.PairID(client, subject)
	turn := t[(int(id[0])*31+int(id[1]))%len(t)]
	timer := time.NewTimer(turnTimeout)
	defer timer.Stop()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-timer.C:
		return func() {}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
