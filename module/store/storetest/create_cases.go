package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

var createCases = []testCase{
	{"what was created can be read", func(s *stage) {
		r := newRecord("k", "a", "p", "value")
		r.Expires = s.clock.Now().Add(time.Hour)
		made := s.mustCreate(r)
		s.wantSame(made, r)
		s.wantSame(s.mustGet(r.Key), made)
	}},
	{"what is absent is ErrNotFound", func(s *stage) {
		s.wantError(store.ErrNotFound)(s.Get(s.ctx, store.Key{Kind: "k", ID: "a"}))
	}},
	{"the version given is ignored", func(s *stage) {
		r := newRecord("k", "a", "", "value")
		r.Version = 1 << 40
		made := s.mustCreate(r)
		s.wantSame(s.mustGet(r.Key), made)
	}},
	{"a live key is refused and stays as it was", func(s *stage) {
		made := s.mustCreate(newRecord("k", "a", "p", "first"))
		s.wantError(store.ErrExists)(s.Create(s.ctx, newRecord("k", "a", "q", "second")))
		s.wantSame(s.mustGet(made.Key), made)
		s.wantEqual(s.listIDs("k", "q", "", 10))
	}},
	{"of 64 callers at once exactly one creates", func(s *stage) {
		for round := range 5 {
			key := store.Key{Kind: "k", ID: fmt.Sprint("round ", round)}
			s.oneWins(store.ErrExists, func(i int) (store.Record, error) {
				return s.Create(s.ctx, newRecord(key.Kind, key.ID, "", fmt.Sprint("caller ", i)))
			})
		}
	}},
	{"a refusal does not touch the callers beside it", func(s *stage) {
		s.mustCreate(newRecord("k", "taken", "", "x"))
		runTogether(crowd, func(i int) {
			if i%2 == 0 {
				if _, err := s.Create(s.ctx, newRecord("k", "taken", "", "y")); !errors.Is(err, store.ErrExists) {
					s.Errorf("Create of the taken key: %v, want ErrExists", err)
				}
				return
			}
			if _, err := s.Create(s.ctx, newRecord("k", fmt.Sprint(i), "", "z")); err != nil {
				s.Errorf("Create of a free key: %v", err)
			}
		})
		for i := 1; i < crowd; i += 2 {
			s.mustGet(store.Key{Kind: "k", ID: fmt.Sprint(i)})
		}
	}},
	{"List includes the record at once", func(s *stage) {
		runTogether(crowd, func(i int) {
			parent := fmt.Sprint("parent ", i)
			if _, err := s.Create(s.ctx, newRecord("k", fmt.Sprint(i), parent, "")); err != nil {
				s.Errorf("Create: %v", err)
				return
			}
			if found, err := s.List(s.ctx, "k", parent, "", 10); err != nil || len(found) != 1 {
				s.Errorf("List after Create = %d records, %v", len(found), err)
			}
		})
	}},
}

var deleteCases = []testCase{
	{"a deleted record is gone, whatever its version", func(s *stage) {
		r := s.mustCreate(newRecord("k", "a", "p", "x"))
		s.mustSwap(r)
		s.mustDelete(r.Key)
		s.wantError(store.ErrNotFound)(s.Get(s.ctx, r.Key))
		s.wantError(store.ErrNotFound)(s.Swap(s.ctx, r))
		s.wantEqual(s.listIDs("k", "p", "", 10))
	}},
	{"removing what is not there is no error", func(s *stage) {
		s.mustDelete(store.Key{Kind: "k", ID: "never"})
	}},
	{"other records stay", func(s *stage) {
		s.mustCreate(newRecord("k", "a", "p", ""))
		other := s.mustCreate(newRecord("k", "ab", "p", ""))
		kind := s.mustCreate(newRecord("l", "a", "p", ""))
		s.mustDelete(store.Key{Kind: "k", ID: "a"})
		s.wantSame(s.mustGet(other.Key), other)
		s.wantSame(s.mustGet(kind.Key), kind)
	}},
	{"a record made again is not the old one to Swap", func(s *stage) {
		old := s.mustCreate(newRecord("k", "a", "", "old"))
		s.mustDelete(old.Key)
		again := s.mustCreate(newRecord("k", "a", "", "new"))
		if again.Version == old.Version {
			s.Fatal("the version came back")
		}
		s.wantError(store.ErrConflict)(s.Swap(s.ctx, old))
	}},
	{"a record made again has its new parent only", func(s *stage) {
		s.mustCreate(newRecord("k", "a", "p", ""))
		s.mustDelete(store.Key{Kind: "k", ID: "a"})
		s.mustCreate(newRecord("k", "a", "q", ""))
		s.wantEqual(s.listIDs("k", "p", "", 9))
		s.wantEqual(s.listIDs("k", "q", "", 9), "a")
	}},
}
