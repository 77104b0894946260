package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
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
		if _, err := s.Get(s.ctx, store.Key{Kind: "k", ID: "a"}); !errors.Is(err, store.ErrNotFound) {
			s.Fatalf("Get: %v, want ErrNotFound", err)
		}
	}},
	{"the version given is ignored", func(s *stage) {
		r := newRecord("k", "a", "", "value")
		r.Version = 1 << 40
		made := s.mustCreate(r)
		s.wantSame(s.mustGet(r.Key), made)
	}},
	{"a live key is refused and stays as it was", func(s *stage) {
		made := s.mustCreate(newRecord("k", "a", "p", "first"))
		if _, err := s.Create(s.ctx, newRecord("k", "a", "q", "second")); !errors.Is(err, store.ErrExists) {
			s.Fatalf("Create: %v, want ErrExists", err)
		}
		s.wantSame(s.mustGet(made.Key), made)
		if got := s.listIDs("k", "q", "", 10); len(got) != 0 {
			s.Fatalf("the refused record's parent lists %q", got)
		}
	}},
	{"of 64 callers at once exactly one creates", func(s *stage) {
		for round := range 5 {
			key := store.Key{Kind: "k", ID: fmt.Sprint("round ", round)}
			var won atomic.Int64
			var winner atomic.Pointer[store.Record]
			runTogether(crowd, func(i int) {
				made, err := s.Create(s.ctx, newRecord(key.Kind, key.ID, "", fmt.Sprint("caller ", i)))
				switch {
				case err == nil:
					won.Add(1)
					winner.Store(&made)
				case !errors.Is(err, store.ErrExists):
					s.Errorf("Create: %v, want ErrExists", err)
				}
			})
			if won.Load() != 1 {
				s.Fatalf("%d callers created the same key", won.Load())
			}
			s.wantSame(s.mustGet(key), *winner.Load())
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
		if _, err := s.Get(s.ctx, r.Key); !errors.Is(err, store.ErrNotFound) {
			s.Fatalf("Get: %v, want ErrNotFound", err)
		}
		if _, err := s.Swap(s.ctx, r); !errors.Is(err, store.ErrNotFound) {
			s.Fatalf("Swap: %v, want ErrNotFound", err)
		}
		if got := s.listIDs("k", "p", "", 10); len(got) != 0 {
			s.Fatalf("List after Delete = %q", got)
		}
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
		if _, err := s.Swap(s.ctx, old); !errors.Is(err, store.ErrConflict) {
			s.Fatalf("Swap with the old version: %v, want ErrConflict", err)
		}
	}},
	{"a record made again has its new parent only", func(s *stage) {
		s.mustCreate(newRecord("k", "a", "p", ""))
		s.mustDelete(store.Key{Kind: "k", ID: "a"})
		s.mustCreate(newRecord("k", "a", "q", ""))
		if p, q := s.listIDs("k", "p", "", 9), s.listIDs("k", "q", "", 9); len(p) != 0 || len(q) != 1 {
			s.Fatalf("the old parent lists %q, the new one %q", p, q)
		}
	}},
}
