package storetest

import (
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// newExpiring is a record that expires after d.
func (s *stage) newExpiring(id, parent string, d time.Duration) store.Record {
	r := newRecord("k", id, parent, "x")
	r.Expires = s.clock.Now().Add(d)
	return r
}

// wantAbsent checks every way in which an expired record could still show.
func (s *stage) wantAbsent(r store.Record) {
	s.Helper()
	s.wantError(store.ErrNotFound)(s.Get(s.ctx, r.Key))
	s.wantError(store.ErrNotFound)(s.Swap(s.ctx, r))
	if r.Parent == "" {
		return
	}
	s.wantEqual(s.listIDs(r.Kind, r.Parent, "", 10))
}

var expiryCases = []testCase{
	{"a record lives until its moment and not from it on", func(s *stage) {
		r := s.mustCreate(s.newExpiring("a", "p", time.Minute))
		s.clock.advance(time.Minute - 2*time.Millisecond)
		s.mustGet(r.Key)
		s.wantEqual(s.listIDs("k", "p", "", 10), "a")
		s.wantError(store.ErrExists)(s.Create(s.ctx, newRecord("k", "a", "", "")))
		s.clock.advance(4 * time.Millisecond)
		s.wantAbsent(r)
	}},
	{"the precision is a millisecond, rounded up", func(s *stage) {
		r := s.newExpiring("a", "", 0)
		for _, ns := range []time.Duration{1, 499_999, 999_999, 1_000_000, 1_500_001} {
			r.ID = ns.String()
			r.Expires = s.clock.Now().Truncate(time.Millisecond).Add(time.Hour + ns)
			s.sameExpiry(s.mustCreate(r).Expires, r.Expires)
			s.sameExpiry(s.mustGet(r.Key).Expires, r.Expires)
		}
	}},
	{"without expiry a record stays", func(s *stage) {
		r := s.mustCreate(newRecord("k", "a", "p", "x"))
		s.clock.advance(20 * 365 * 24 * time.Hour)
		s.wantSame(s.mustGet(r.Key), r)
	}},
	{"a far expiry is kept", func(s *stage) {
		r := newRecord("k", "a", "", "x")
		r.Expires = time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)
		s.mustCreate(r)
		s.wantSame(s.mustGet(r.Key), r)
	}},
	{"Create replaces an expired record, its parent too", func(s *stage) {
		old := s.mustCreate(s.newExpiring("a", "p", time.Minute))
		s.clock.advance(time.Hour)
		made := s.mustCreate(newRecord("k", "a", "q", "new"))
		if made.Version == old.Version {
			s.Fatal("the version came back")
		}
		s.wantSame(s.mustGet(made.Key), made)
		s.wantEqual(s.listIDs("k", "p", "", 9))
		s.wantEqual(s.listIDs("k", "q", "", 9), "a")
		s.wantError(store.ErrConflict)(s.Swap(s.ctx, old))
	}},
	{"of 64 callers at once exactly one replaces it", func(s *stage) {
		s.mustCreate(s.newExpiring("a", "", time.Minute))
		s.clock.advance(time.Hour)
		s.oneWins(store.ErrExists, func(int) (store.Record, error) { return s.Create(s.ctx, newRecord("k", "a", "", "new")) })
	}},
	{"Swap prolongs a life", func(s *stage) {
		r := s.mustCreate(s.newExpiring("a", "p", time.Minute))
		r.Expires = s.clock.Now().Add(time.Hour)
		r = s.mustSwap(r)
		s.clock.advance(30 * time.Minute)
		s.wantSame(s.mustGet(r.Key), r)
		s.createMany("other", "p", 70) // a store that sweeps as it writes must not go by the old moment
		s.wantSame(s.mustGet(r.Key), r)
		s.clock.advance(31 * time.Minute)
		s.wantAbsent(r)
	}},
	{"Swap shortens a life", func(s *stage) {
		r := s.mustCreate(s.newExpiring("a", "p", time.Hour))
		r.Expires = s.clock.Now().Add(time.Minute)
		r = s.mustSwap(r)
		s.clock.advance(2 * time.Minute)
		s.wantAbsent(r)
	}},
	{"Swap with a moment that is past ends a record at once", func(s *stage) {
		for _, moment := range []time.Time{s.clock.Now().Add(-time.Minute), time.UnixMilli(1)} {
			r := s.mustCreate(s.newExpiring("a", "p", time.Hour))
			old := r.Version
			r.Expires = moment
			s.wantAbsent(s.mustSwap(r))
			made := s.mustCreate(newRecord("k", "a", "p", "new"))
			r.Version = old
			s.wantError(store.ErrConflict)(s.Swap(s.ctx, r))
			s.wantSame(s.mustGet(r.Key), made)
			s.mustDelete(r.Key)
		}
	}},
	{"Swap ends and begins an expiry", func(s *stage) {
		r := s.mustCreate(s.newExpiring("a", "p", time.Minute))
		r.Expires = time.Time{}
		r = s.mustSwap(r)
		s.clock.advance(24 * time.Hour)
		s.wantSame(s.mustGet(r.Key), r)
		r.Expires = s.clock.Now().Add(time.Minute)
		r = s.mustSwap(r)
		s.clock.advance(2 * time.Minute)
		s.wantAbsent(r)
	}},
	{"what is created expired is absent", func(s *stage) {
		r := s.mustCreate(s.newExpiring("a", "p", -time.Minute))
		s.wantAbsent(r)
		s.mustCreate(newRecord("k", "a", "p", "new"))
	}},
	{"an expired record can be deleted", func(s *stage) {
		r := s.mustCreate(s.newExpiring("a", "p", time.Minute))
		s.clock.advance(time.Hour)
		s.mustDelete(r.Key)
		s.mustCreate(r)
	}},
	{"expired records do not use up the limit of List", func(s *stage) {
		for _, id := range []string{"a", "b", "c", "d"} {
			s.mustCreate(s.newExpiring(id, "p", time.Minute))
		}
		s.mustCreate(newRecord("k", "e", "p", ""))
		s.mustCreate(newRecord("k", "f", "p", ""))
		s.mustCreate(newRecord("k", "g", "p", ""))
		s.clock.advance(time.Hour)
		s.wantEqual(s.listIDs("k", "p", "", 2), "e", "f")
		s.wantEqual(s.listIDs("k", "p", "b", 2), "e", "f")
	}},
}
