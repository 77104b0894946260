package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// everyCall runs each method once and gives its error to check.
func (s *stage) everyCall(ctx context.Context, check func(method string, err error)) {
	key := store.Key{Kind: "k", ID: "a"}
	_, err := s.Get(ctx, key)
	check("Get", err)
	_, err = s.Create(ctx, newRecord("k", "b", "p", ""))
	check("Create", err)
	_, err = s.Swap(ctx, newRecord("k", "a", "p", ""))
	check("Swap", err)
	check("Delete", s.Delete(ctx, key))
	_, err = s.List(ctx, "k", "p", "", 10)
	check("List", err)
	check("Watch", s.Watch(ctx, "k", func([]store.Record) {}))
}

// wantFault fails unless err is a technical one.
func (s *stage) wantFault(method string, err error) {
	s.Helper()
	if err == nil || store.IsAnswer(err) {
		s.Errorf("%s: %v, want a technical error", method, err)
	}
}

var contextCases = []testCase{
	{"a context that has ended ends every call", func(s *stage) {
		s.mustCreate(newRecord("k", "a", "p", ""))
		cancelled, cancel := context.WithCancel(s.ctx)
		cancel()
		expired, cancel := context.WithDeadline(s.ctx, time.Unix(1, 0))
		defer cancel()
		for _, ctx := range []context.Context{cancelled, expired} {
			s.everyCall(ctx, func(method string, err error) {
				if !errors.Is(err, ctx.Err()) {
					s.Errorf("%s: %v, want %v", method, err, ctx.Err())
				}
			})
		}
	}},
	{"a context that ends in mid-call does not harm the store", func(s *stage) {
		runTogether(crowd, func(i int) {
			ctx, cancel := context.WithTimeout(s.ctx, time.Duration(i)*20*time.Microsecond)
			defer cancel()
			_, err := s.Create(ctx, newRecord("k", string(rune('A'+i)), "p", "x"))
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				s.Errorf("Create: %v, want success or the context's end", err)
			}
		})
		s.mustGet(s.mustCreate(newRecord("k", "after", "", "")).Key)
	}},
}

var closeCases = []testCase{
	{"every call fails afterwards", func(s *stage) {
		s.mustCreate(newRecord("k", "a", "p", ""))
		if err := s.Close(); err != nil {
			s.Fatal(err)
		}
		s.everyCall(s.ctx, s.wantFault)
	}},
	{"closing twice does not block or panic", func(s *stage) {
		s.inTime(func() { runTogether(4, func(int) { _ = s.Close() }) })
	}},
	{"calls in flight return", func(s *stage) {
		s.mustCreate(newRecord("k", "a", "p", ""))
		call := func(i int) {
			if i == 0 {
				_ = s.Close()
				return
			}
			for n := 0; ; n++ {
				_, err := s.Create(s.ctx, newRecord("k", string(rune('A'+i))+string(rune('A'+n)), "p", ""))
				if err != nil {
					s.wantFault("Create", err)
					return
				}
				if _, err := s.Get(s.ctx, store.Key{Kind: "k", ID: "a"}); err != nil {
					s.wantFault("Get", err)
					return
				}
			}
		}
		s.inTime(func() { runTogether(crowd, call) })
	}},
}
