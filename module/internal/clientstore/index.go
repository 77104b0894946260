package clientstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// The index of clients by their terms, which are their origins and optional grant types: a preflight names no client, and
// neither does whoever asks what the server offers, so the clients of a term are found by records of their own.
//
// A record is written before the client's, so that a term whose client was acknowledged is found whatever happens.
// A client that loses a term is written first, and then the record of the term is dropped if nobody has written it
// since: whoever adds the term again writes it anew. A record without its client is therefore possible, and means
// nothing: the client's own record decides.
const (
	termPage = 16
	// termSettling is how long a record may be ahead of its client's.
	termSettling = time.Minute
	// checkEvery is how often one node looks for terms without a record: earlier releases write none.
	checkEvery = time.Hour
	// checkPage is how many clients it reads at a time.
	checkPage = 100
	// checkLease is how long that node is left alone, and checkWriters how many records it writes at a time.
	checkLease   = time.Minute
	checkWriters = 16
)

// The store has another record, "origins", of a release that had no index of grant types.
var indexKey = store.Key{Kind: store.KindLedger, ID: "clients by term"}

// termsOf are what a client in the store is found by without its id.
func (c *Clients) termsOf(k store.Client) []string {
	client := clientOf(k)
	terms := client.CORSOrigins()
	for _, g := range oauth.OptionalGrantTypes {
		if hasOptional(client, g) && !client.Ended(g, c.Now()) {
			terms = append(terms, grantTerm(g))
		}
	}
	return terms
}

// grantTerm is the term of an optional grant type. No origin has a space.
func grantTerm(g oauth.GrantType) string { return "grant_type " + string(g) }

// hasOrigin reports whether a client in the store has this origin. Errors are technical.
func (c *Clients) hasOrigin(ctx context.Context, origin string) (bool, error) {
	found, err := c.anyWith(ctx, origin)
	return found != nil, err
}

// anyWith returns a client in the store that has a term, or nil. It costs by the number of such clients that are gone,
// and otherwise one list and one read. Errors are technical.
func (c *Clients) anyWith(ctx context.Context, term string) (*oauth.Client, error) {
	for after := ""; ; {
		page, err := c.Store.List(ctx, store.KindOrigin, store.OriginParent(term), after, termPage)
		if err != nil {
			return nil, err
		}
		for _, rec := range page {
			var v store.Origin
			if err := store.Decode(rec.Value, &v); err != nil {
				return nil, err
			}
			_, k, err := c.readRecord(ctx, v.Client)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return nil, err
			}
			if err == nil && slices.Contains(c.termsOf(k), term) {
				return clientOf(k), nil
			}
			if c.Now().Sub(v.At) >= termSettling {
				c.dropTerms(ctx, []store.Record{rec})
			}
			after = rec.ID
		}
		if len(page) < termPage {
			return nil, nil
		}
	}
}

// addTerms writes the records of those terms that a client has and before had not, or for another time. before is
// nil for a new client.
func (c *Clients) addTerms(ctx context.Context, k store.Client, before *store.Client) error {
	var known []string
	if before != nil && before.UnusedUntil.Equal(k.UnusedUntil) {
		known = c.termsOf(*before)
	}
	for _, term := range c.termsOf(k) {
		if slices.Contains(known, term) {
			continue
		}
		var v store.Origin
		r := store.Record{Key: store.OriginKey(term, k.ID), Parent: store.OriginParent(term)}
		_, err := store.Change(ctx, c.Store, r, &v, func(rec *store.Record) (bool, error) {
			v.Client, v.At, rec.Expires = k.ID, c.Now(), k.UnusedUntil
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lostTerms reads the records of those terms that a client had and has no more, to be dropped once that is stored.
func (c *Clients) lostTerms(ctx context.Context, before, after store.Client) (lost []store.Record, err error) {
	kept := c.termsOf(after)
	for _, term := range c.termsOf(before) {
		if slices.Contains(kept, term) {
			continue
		}
		rec, err := c.Store.Get(ctx, store.OriginKey(term, before.ID))
		switch {
		case err == nil:
			lost = append(lost, rec)
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	return lost, nil
}

// dropTerms lets records expire, except those that were written since. If it fails they stay until somebody asks for
// their term.
func (c *Clients) dropTerms(ctx context.Context, lost []store.Record) {
	for _, rec := range lost {
		_ = ending.Expire(ctx, c.Store, rec, c.Now().Add(time.Second))
	}
}

// errChecking says that another node has begun to check the index, and may never finish.
var errChecking = errors.New("clientstore: another node checks the index of clients")

// checkIndex writes the records of terms that have none, unless a node did so within [checkEvery]. After an error,
// which is technical or [errChecking], another call tries again.
func (c *Clients) checkIndex(ctx context.Context) error {
	due, leased := false, false
	err := c.changeIndex(ctx, func(v *store.OriginIndex) bool {
		now := c.Now()
		due, leased = now.Sub(v.Checked) >= checkEvery, now.Before(v.Lease)
		if due && !leased {
			v.Lease = now.Add(checkLease)
		}
		return due && !leased
	})
	switch {
	case err != nil || !due:
		return err
	case leased:
		return errChecking
	}
	for _, parent := range []string{store.ClientParent, store.RegisteredParent} {
		if err := c.checkTermsOf(ctx, parent); err != nil {
			return err
		}
	}
	return c.changeIndex(ctx, func(v *store.OriginIndex) bool {
		v.Checked, v.Lease = c.Now(), time.Time{}
		return true
	})
}

func (c *Clients) changeIndex(ctx context.Context, change func(*store.OriginIndex) bool) error {
	var v store.OriginIndex
	_, err := store.Change(ctx, c.Store, store.Record{Key: indexKey}, &v, func(*store.Record) (bool, error) { return change(&v), nil })
	return err
}

func (c *Clients) checkTermsOf(ctx context.Context, parent string) error {
	for after := ""; ; {
		page, err := c.listRecords(ctx, parent, after, checkPage)
		if err != nil {
			return err
		}
		var all errgroup.Group
		all.SetLimit(checkWriters)
		for _, k := range page {
			after = k.ID
			all.Go(func() error { return c.addMissingTerms(ctx, k) })
		}
		if err := all.Wait(); err != nil || len(page) < checkPage {
			return err
		}
	}
}

func (c *Clients) addMissingTerms(ctx context.Context, k store.Client) error {
	for _, term := range c.termsOf(k) {
		_, err := c.Store.Get(ctx, store.OriginKey(term, k.ID))
		if errors.Is(err, store.ErrNotFound) {
			err = c.addTerms(ctx, k, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
