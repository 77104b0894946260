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

func (s *stage) startWatch(kind store.Kind) *feed {
	ctx, cancel := context.WithCancel(s.ctx)
	f := &feed{s: s, cancel: cancel, ended: make(chan error, 1), loaded: make(chan struct{}), seen: make(map[string]store.Record)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.ended <- s.Watch(ctx, kind, f.addRecords)
	}()
	s.Cleanup(func() { cancel(); <-done })
	return f
}

func (f *feed) addRecords(records []store.Record) {
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

func (f *feed) markLoaded() {
	f.s.Helper()
	select {
	case <-f.loaded:
	case err := <-f.ended:
		f.s.Fatalf("Watch ended before it had loaded: %v", err)
	case <-time.After(patience):
		f.s.Fatal("Watch does not come to an end of loading")
	}
}

func (f *feed) endFeed() (err error) {
	f.s.Helper()
	f.s.inTime(func() { err = <-f.ended })
	return err
}

func (f *feed) recordCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen)
}

// waitForRecords waits for the second the contract allows, and no longer.
func (f *feed) waitForRecords(d time.Duration, n int) {
	f.s.Helper()
	for until := time.Now().Add(d); f.recordCount() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			f.s.Fatalf("%d of %d records after %v", f.recordCount(), n, d)
		}
	}
}

var watchCases = []testCase{
	{"an empty store is loaded at once", func(s *stage) {
		f := s.startWatch("k")
		f.markLoaded()
		if f.recordCount() != 0 {
			s.Fatalf("%d records out of nothing", f.recordCount())
		}
	}},
	{"all live records of the kind come before the mark", func(s *stage) {
		s.createMany("k", "all", 2100)
		s.mustCreate(newRecord("l", "other kind", "all", ""))
		s.mustCreate(newRecord("k", "no parent", "", "value"))
		s.mustCreate(s.newExpiring("expired", "all", time.Minute))
		s.mustCreate(newRecord("k", "deleted", "all", ""))
		s.mustDelete(store.Key{Kind: "k", ID: "deleted"})
		s.clock.advance(time.Hour)
		f := s.startWatch("k")
		f.markLoaded()
		if f.recordCount() != 2101 {
			s.Fatalf("%d records at the mark, want 2101", f.recordCount())
		}
		s.wantSame(f.seen["no parent"], newRecord("k", "no parent", "", "value"))
	}},
	{"each record created later comes within a second to every watcher", func(s *stage) {
		feeds := []*feed{s.startWatch("k"), s.startWatch("k"), s.startWatch("k")}
		for _, f := range feeds {
			f.markLoaded()
		}
		s.mustCreate(newRecord("l", "other kind", "all", ""))
		for i := range 5 {
			made := s.mustCreate(newRecord("k", fmt.Sprint(i), "all", "value"))
			for _, f := range feeds {
				f.waitForRecords(time.Second, i+1)
				f.mu.Lock()
				s.wantSame(f.seen[made.ID], made)
				f.mu.Unlock()
			}
		}
	}},
	{"nothing created while a Watch begins is missed", func(s *stage) {
		const n = 600
		var feeds []*feed
		var writing sync.WaitGroup
		writing.Go(func() { s.createMany("k", "all", n) })
		for range 10 {
			feeds = append(feeds, s.startWatch("k"))
			time.Sleep(2 * time.Millisecond)
		}
		writing.Wait()
		for _, f := range feeds {
			f.markLoaded()
			f.waitForRecords(time.Second, n)
		}
	}},
	{"every kind that is followed can be", func(s *stage) {
		for i, kind := range store.WatchedKinds() {
			f := s.startWatch(kind)
			f.markLoaded()
			s.mustCreate(newRecord(kind, fmt.Sprint("one of ", i), "", "value"))
			f.waitForRecords(time.Second, 1)
		}
	}},
	{"a Watch ends with its context", func(s *stage) {
		f, other := s.startWatch("k"), s.startWatch("k")
		f.markLoaded()
		other.markLoaded()
		f.cancel()
		if err := f.endFeed(); err != context.Canceled {
			s.Fatalf("Watch ended with %v, want ctx.Err()", err)
		}
		s.mustCreate(newRecord("k", "a", "", ""))
		other.waitForRecords(time.Second, 1)
	}},
	{"a Watch ends at Close", func(s *stage) {
		f := s.startWatch("k")
		f.markLoaded()
		if err := s.Close(); err != nil {
			s.Fatal(err)
		}
		if err := f.endFeed(); err == nil {
			s.Fatal("Watch ended without an error")
		}
	}},
}
