package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

var swapCases = []testCase{
	{"value and expiry are replaced, the parent stays", func(s *stage) {
		r := s.mustCreate(newRecord("k", "a", "p", "first"))
		next := r
		next.Parent, next.Value, next.Expires = "elsewhere", []byte("second"), s.clock.Now().Add(time.Hour)
		made := s.mustSwap(next)
		want := next
		want.Parent, want.Version = "p", 0
		s.wantSame(made, want)
		s.wantSame(s.mustGet(r.Key), made)
		s.wantEqual(s.listIDs("k", "p", "", 9), "a")
		s.wantEqual(s.listIDs("k", "elsewhere", "", 9))
	}},
	{"the version changes with every write", func(s *stage) {
		r := s.mustCreate(newRecord("k", "a", "", "same"))
		seen := map[uint64]bool{r.Version: true}
		for range 10 {
			r = s.mustSwap(r)
			if seen[r.Version] {
				s.Fatalf("version %d came back", r.Version)
			}
			seen[r.Version] = true
		}
	}},
	{"a version that is not the stored one is ErrConflict", func(s *stage) {
		old := s.mustCreate(newRecord("k", "a", "", "first"))
		now := s.mustSwap(old)
		for _, version := range []uint64{0, old.Version, now.Version + 1, 1<<64 - 1} {
			r := old
			r.Version = version
			s.wantError(store.ErrConflict)(s.Swap(s.ctx, r))
		}
		s.wantSame(s.mustGet(old.Key), now)
	}},
	{"what is absent is ErrNotFound", func(s *stage) {
		r := newRecord("k", "a", "", "")
		r.Version = 1
		s.wantError(store.ErrNotFound)(s.Swap(s.ctx, r))
	}},
	{"of 64 callers at once exactly one swaps", func(s *stage) {
		r := s.mustCreate(newRecord("k", "a", "", "begin"))
		for range 5 {
			r = s.oneWins(store.ErrConflict, func(i int) (store.Record, error) {
				next := r
				next.Value = []byte(fmt.Sprint("caller ", i))
				return s.Swap(s.ctx, next)
			})
		}
	}},
	{"no increment is lost", func(s *stage) {
		key := s.mustCreate(newRecord("k", "counter", "", "0")).Key
		const callers, each = 8, 5
		runTogether(callers, func(int) {
			for range each {
				if err := s.incrementCounter(key); err != nil {
					s.Errorf("counting: %v", err)
				}
			}
		})
		if got := string(s.mustGet(key).Value); got != strconv.Itoa(callers*each) {
			s.Fatalf("counted to %s, want %d", got, callers*each)
		}
	}},
	{"nobody reads what was before an answered Swap", func(s *stage) {
		r := s.mustCreate(newRecord("k", "clock", "", "0"))
		var answered atomic.Int64
		const writes = 50
		runTogether(5, func(i int) {
			if i == 0 {
				r := r
				for n := 1; n <= writes; n++ {
					r.Value = []byte(strconv.Itoa(n))
					var err error
					if r, err = s.Swap(s.ctx, r); err != nil {
						s.Errorf("Swap: %v", err)
						break
					}
					answered.Store(int64(n))
				}
				answered.Store(writes)
				return
			}
			for floor := int64(0); floor < writes; {
				floor = answered.Load()
				got, err := s.Get(s.ctx, r.Key)
				if err != nil {
					s.Errorf("Get: %v", err)
					return
				}
				if n, _ := strconv.ParseInt(string(got.Value), 10, 64); n < floor {
					s.Errorf("read %d after %d was answered", n, floor)
				}
			}
		})
	}},
}

// incrementCounter counts one further in a record, as often as it takes.
func (s *stage) incrementCounter(key store.Key) error {
	for {
		r, err := s.Get(s.ctx, key)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(r.Value))
		if err != nil {
			return err
		}
		r.Value = []byte(strconv.Itoa(n + 1))
		if _, err = s.Swap(s.ctx, r); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}
