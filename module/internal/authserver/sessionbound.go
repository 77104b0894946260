package authserver

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// maxSessions is how many browsers a user can be signed in at: more than anybody has,
// and few enough that somebody with a password cannot fill the store with sessions.
const maxSessions = 100

// boundSessions ends the sessions of a user that were not used for longest, as far as
// there are more than maxSessions. The one that has just begun stays.
func (s *signIn) boundSessions(ctx context.Context, subject, keep string) error {
	first, err := s.Store.List(ctx, store.KindSession, subject, "", maxSessions+1)
	if err != nil || len(first) <= maxSessions {
		return err
	}
	type used struct {
		key  store.Key
		seen time.Time
	}
	var all []used
	err = s.each(ctx, store.KindSession, subject, func(rec store.Record) error {
		var v store.Session
		if err := store.Decode(rec.Value, &v); err != nil {
			return ofOne{err}
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
	for _, u := range all[:max(0, len(all)-(maxSessions-1))] {
		if err := s.Store.Delete(ctx, u.key); err != nil {
			return err
		}
	}
	return nil
}
