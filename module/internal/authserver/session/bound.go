package session

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/userrecords"
	"github.com/gatehouse/gatehouse/module/store"
)

// Max is how many browsers a user can be signed in at: more than anybody has, and few enough
// that somebody with a password cannot fill the store with sessions.
const Max = 100

// endLeastRecent ends the sessions of a user that were not used for longest, as far as there
// are more than Max. The one that has just begun stays.
func (s *Sessions) endLeastRecent(ctx context.Context, subject, keep string) error {
	first, err := s.Store.List(ctx, store.KindSession, subject, "", Max+1)
	if err != nil || len(first) <= Max {
		return err
	}
	type used struct {
		key  store.Key
		seen time.Time
	}
	var all []used
	err = userrecords.Each(ctx, s.Store, store.KindSession, subject, func(rec store.Record) error {
		var v store.Session
		if err := store.Decode(rec.Value, &v); err != nil {
			return userrecords.Unreadable(err)
		}
		if rec.ID != keep {
			all = append(all, used{rec.Key, v.LastSeen})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b used) int { return a.seen.Compare(b.seen) })
	for _, u := range all[:max(0, len(all)-(Max-1))] {
		if err := s.Store.Delete(ctx, u.key); err != nil {
			return err
		}
	}
	return nil
}
