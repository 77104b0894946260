package clientstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/store"
)

// The index of origins: a preflight names no client, so the clients of an origin are found by records of their own.
//
// A record is written before the client's, so that an origin whose client was acknowledged is found whatever happens.
// A client that loses an origin is written first, and then the record of the origin is dropped if nobody has written it
// since: whoever adds the origin again writes it anew. A record without its client is therefore possible, and means
// nothing: the client's own record decides.
const (
	originPage = 16
	// originSettling is how long a record may be ahead of its client's.
	originSettling = time.Minute
	// checkEvery is how often one node looks for origins without a record: earlier releases write none.
	checkEvery = time.Hour
	// checkLease is how long that node is left alone, and checkWriters how many records it writes at a time.
	checkLease   = time.Minute
	checkWriters = 16
)

var originIndexKey = store.Key{Kind: store.KindLedger, ID: "origins"}

// HasOrigin reports whether a client in the store has this origin. It costs by the number of such clients that are
// gone, and otherwise one list and one read. Errors are technical.
func (c *Clients) HasOrigin(ctx context.Context, origin string) (bool, error) {
	for after := ""; ; {
		page, err := c.Store.List(ctx, store.KindOrigin, store.OriginParent(origin), after, originPage)
		if err != nil {
			return false, err
		}
		for _, rec := range page {
			var v store.Origin
			if err := store.Decode(rec.Value, &v); err != nil {
				return false, err
			}
			_, k, err := c.readRecord(ctx, v.Client)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return false, err
			}
			if err == nil && slices.Contains(clientOf(k).CORSOrigins(), origin) {
				return true, nil
			}
			if c.Now().Sub(v.At) >= originSettling {
				c.dropOrigins(ctx, []store.Record{rec})
			}
			after = rec.ID
		}
		if len(page) < originPage {
			return false, nil
		}
	}
}

// addOrigins writes the records of those origins that a client has and before had not, or for another time. before is
// nil for a new client.
func (c *Clients) addOrigins(ctx context.Context, k store.Client, before *store.Client) error {
	var known []string
	if before != nil && before.UnusedUntil.Equal(k.UnusedUntil) {
		known = clientOf(*before).CORSOrigins()
	}
	for _, origin := range clientOf(k).CORSOrigins() {
		if slices.Contains(known, origin) {
			continue
		}
		var v store.Origin
		r := store.Record{Key: store.OriginKey(origin, k.ID), Parent: store.OriginParent(origin)}
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

// lostOrigins reads the records of those origins that a client had and has no more, to be dropped once that is stored.
func (c *Clients) lostOrigins(ctx context.Context, before, after store.Client) (lost []store.Record, err error) {
	kept := clientOf(after).CORSOrigins()
	for _, origin := range clientOf(before).CORSOrigins() {
		if slices.Contains(kept, origin) {
			continue
		}
		rec, err := c.Store.Get(ctx, store.OriginKey(origin, before.ID))
		switch {
		case err == nil:
			lost = append(lost, rec)
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	return lost, nil
}

// dropOrigins lets records expire, except those that were written since. If it fails they stay until somebody asks for
// their origin.
func (c *Clients) dropOrigins(ctx context.Context, lost []store.Record) {
	for _, rec := range lost {
		_ = ending.Expire(ctx, c.Store, rec, c.Now().Add(time.Second))
	}
}

// CheckOrigins writes the records of origins that have none, unless a node did so within [checkEvery] or is about to.
// Errors are technical, and another call tries again.
func (c *Clients) CheckOrigins(ctx context.Context) error {
	due := false
	err := c.changeIndex(ctx, func(v *store.OriginIndex) bool {
		now := c.Now()
		if due = now.Sub(v.Checked) >= checkEvery && !now.Before(v.Lease); due {
			v.Lease = now.Add(checkLease)
		}
		return due
	})
	if err != nil || !due {
		return err
	}
	for _, parent := range []string{store.ClientParent, store.RegisteredParent} {
		if err := c.checkOriginsOf(ctx, parent); err != nil {
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
	_, err := store.Change(ctx, c.Store, store.Record{Key: originIndexKey}, &v, func(*store.Record) (bool, error) { return change(&v), nil })
	return err
}

func (c *Clients) checkOriginsOf(ctx context.Context, parent string) error {
	for after := ""; ; {
		page, err := c.listRecords(ctx, parent, after, surveyPage)
		if err != nil {
			return err
		}
		var all errgroup.Group
		all.SetLimit(checkWriters)
		for _, k := range page {
			after = k.ID
			all.Go(func() error { return c.addMissingOrigins(ctx, k) })
		}
		if err := all.Wait(); err != nil || len(page) < surveyPage {
			return err
		}
	}
}

func (c *Clients) addMissingOrigins(ctx context.Context, k store.Client) error {
	for _, origin := range clientOf(k).CORSOrigins() {
		_, err := c.Store.Get(ctx, store.OriginKey(origin, k.ID))
		if errors.Is(err, store.ErrNotFound) {
			err = c.addOrigins(ctx, k, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
