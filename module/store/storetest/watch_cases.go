package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// feed is a running Watch and what it has delivered.
type feed struct {
	s      *stage
	cancel context.CancelFunc
	ended  chan error
	loaded chan struct{}

	busy atomic.Bool
	mu   sync.Mutex
	nils int
	seen map[string]store.Record
}

func (s *stage) watch(kind store.Kind) *feed {
	ctx, cancel := context.WithCancel(s.ctx)
	f := &feed{s: s, cancel: cancel, ended: make(chan error, 1), loaded: make(chan struct{}), seen: make(map[string]store.Record)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.ended <- s.Watch(ctx, kind, f.take)
	}()
	s.Cleanup(func() { cancel(); <-done })
	return f
}

func (f *feed) take(records []store.Record) {
	if !f.busy.CompareAndSwap(false, true) {
		f.s.Error("two calls of deliver overlap")
	}
	defer f.busy.Store(false)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case records == nil:
		f.nils++
		if f.nils > 1 {
			f.s.Error("the mark of the full load came twice")
			return
		}
		close(f.loaded)
	case len(records) > 1000:
		f.s.Errorf("%d records in one call", len(records))
	}
	for _, r := range records {
		f.seen[r.ID] = r
	}
}

func (f *feed) load() {
	f.s.Helper()
	select {
	case <-f.loaded:
	case err := <-f.ended:
		f.s.Fatalf("Watch ended before it had loaded: %v", err)
	case <-time.After(patience):
		f.s.Fatal("Watch does not come to an end of loading")
	}
}

func (f *feed) end() error {
	f.s.Helper()
	select {
	case err := <-f.ended:
		return err
	case <-time.After(patience):
		f.s.Fatal("Watch does not end")
		return nil
	}
}

func (f *feed) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen)
}

// within waits for the second the contract allows, and no longer.
func (f *feed) within(d time.Duration, n int) {
	f.s.Helper()
	for until := time.Now().Add(d); f.count() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			f.s.Fatalf("%d of %d records after %v", f.count(), n, d)
		}
	}
}

var watchCases = []testCase{
	{"an empty store is loaded at once", func(s *stage) {
		f := s.watch("k")
		f.load()
		if f.count() != 0 {
			s.Fatalf("%d records out of nothing", f.count())
		}
	}},
	{"all live records of the kind come before the mark", func(s *stage) {
		s.fill("k", "all", 2100)
		s.mustCreate(rec("l", "other kind", "all", ""))
		s.mustCreate(rec("k", "no parent", "", "value"))
		s.mustCreate(s.lasting("expired", "all", time.Minute))
		s.mustCreate(rec("k", "deleted", "all", ""))
		s.mustDelete(store.Key{Kind: "k", ID: "deleted"})
		s.clock.advance(time.Hour)
		f := s.watch("k")
		f.load()
		if f.count() != 2101 {
			s.Fatalf("%d records at the mark, want 2101", f.count())
		}
		s.same(f.seen["no parent"], rec("k", "no parent", "", "value"))
	}},
	{"each record created later comes within a second to every watcher", func(s *stage) {
		feeds := []*feed{s.watch("k"), s.watch("k"), s.watch("k")}
		for _, f := range feeds {
			f.load()
		}
		s.mustCreate(rec("l", "other kind", "all", ""))
		for i := range 5 {
			made := s.mustCreate(rec("k", fmt.Sprint(i), "all", "value"))
			for _, f := range feeds {
				f.within(time.Second, i+1)
				f.mu.Lock()
				s.same(f.seen[made.ID], made)
				f.mu.Unlock()
			}
		}
	}},
	{"nothing created while a Watch begins is missed", func(s *stage) {
		const n = 600
		var feeds []*feed
		var writing sync.WaitGroup
		writing.Go(func() { s.fill("k", "all", n) })
		for range 10 {
			feeds = append(feeds, s.watch("k"))
			time.Sleep(2 * time.Millisecond)
		}
		writing.Wait()
		for _, f := range feeds {
			f.load()
			f.within(time.Second, n)
		}
	}},
	{"every kind that is followed can be", func(s *stage) {
		for i, kind := range store.WatchedKinds() {
			f := s.watch(kind)
			f.load()
			s.mustCreate(rec(kind, fmt.Sprint("one of ", i), "", "value"))
			f.within(time.Second, 1)
		}
	}},
	{"a Watch ends with its context", func(s *stage) {
		f, other := s.watch("k"), s.watch("k")
		f.load()
		other.load()
		f.cancel()
		if err := f.end(); err != context.Canceled {
			s.Fatalf("Watch ended with %v, want ctx.Err()", err)
		}
		s.mustCreate(rec("k", "a", "", ""))
		other.within(time.Second, 1)
	}},
	{"a Watch ends at Close", func(s *stage) {
		f := s.watch("k")
		f.load()
		if err := s.Close(); err != nil {
			s.Fatal(err)
		}
		if err := f.end(); err == nil {
			s.Fatal("Watch ended without an error")
		}
	}},
}
