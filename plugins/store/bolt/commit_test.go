package bolt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

// commits is the number of the last transaction that was written.
func commits(t testing.TB, b *Backend) int {
	t.Helper()
	var id int
	if err := b.handle.viewTx(func(tx *bbolt.Tx) error { id = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return id
}

func record(id string) store.Record {
	return store.Record{Key: store.Key{Kind: "k", ID: id}, Parent: "p", Value: []byte("value")}
}

func TestParallelWritersShareTransactions(t *testing.T) {
	b := open(t, Options{})
	before := commits(t, b)
	const writers, each = 64, 20
	var done sync.WaitGroup
	for w := range writers {
		done.Go(func() {
			for n := range each {
				if _, err := b.Create(t.Context(), record(fmt.Sprint(w, ".", n))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	got := commits(t, b) - before
	if got*4 > writers*each {
		t.Errorf("%d writes took %d transactions", writers*each, got)
	}
	t.Logf("%d writes took %d transactions", writers*each, got)
}

func TestFailedWritesDoNotTouchTheDisk(t *testing.T) {
	b := open(t, Options{})
	made, err := b.Create(t.Context(), record("a"))
	if err != nil {
		t.Fatal(err)
	}
	before := commits(t, b)
	_, exists := b.Create(t.Context(), record("a"))
	made.Version++
	_, conflict := b.Swap(t.Context(), made)
	_, absent := b.Swap(t.Context(), record("b"))
	if !errors.Is(exists, store.ErrExists) || !errors.Is(conflict, store.ErrConflict) || !errors.Is(absent, store.ErrNotFound) {
		t.Errorf("got %v, %v, %v", exists, conflict, absent)
	}
	if err := b.Delete(t.Context(), store.Key{Kind: "k", ID: "b"}); err != nil {
		t.Error(err)
	}
	if got := commits(t, b) - before; got != 0 {
		t.Errorf("four refusals took %d transactions", got)
	}
}

// hold keeps the committer from the file until release is called.
func hold(t *testing.T, b *Backend) (release func()) {
	t.Helper()
	b.handle.mu.RLock()
	db := b.handle.db
	b.handle.mu.RUnlock()
	tx, err := db.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

func TestFullWriteQueueWaitsForTheCallersContext(t *testing.T) {
	b := open(t, Options{})
	release := hold(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	for i := range queueLength + 2*maxBatch {
		done.Go(func() {
			if _, err := b.Create(ctx, record(fmt.Sprint(i))); !errors.Is(err, context.Canceled) {
				t.Errorf("Create: %v, want the context's end", err)
			}
		})
	}
	for until := time.Now().Add(10 * time.Second); len(b.queue) < cap(b.queue); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d of %d wait in the queue", len(b.queue), cap(b.queue))
		}
	}
	short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := b.Create(short, record("one more")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Create on a full queue: %v", err)
	}
	if _, err := b.Get(t.Context(), store.Key{Kind: "k", ID: "0"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("reading beside a full queue: %v", err)
	}
	cancel()
	done.Wait()
	release()
	if _, err := b.Create(t.Context(), record("after")); err != nil {
		t.Fatal(err)
	}
	if found, err := b.List(t.Context(), "k", "p", "", 9); err != nil || len(found) != 1 {
		t.Errorf("%d records, %v: what nobody waits for any more need not be written", len(found), err)
	}
}

func TestOversizedKeysAndValuesAreRefused(t *testing.T) {
	b := open(t, Options{})
	long := string(make([]byte, store.MaxKeyLength+1))
	for _, r := range []store.Record{
		{Key: store.Key{Kind: store.Kind(long), ID: "a"}},
		{Key: store.Key{Kind: "k", ID: long}},
		{Key: store.Key{Kind: "k", ID: "a"}, Parent: long},
		{Key: store.Key{Kind: "k", ID: "a"}, Value: make([]byte, store.MaxValueLength+1)},
	} {
		if _, err := b.Create(t.Context(), r); !errors.Is(err, errTooLong) {
			t.Errorf("Create: %v, want errTooLong", err)
		}
	}
}

func TestSlowWatcherIsEndedWithoutDelayingOthers(t *testing.T) {
	b := open(t, Options{})
	stuck, release := make(chan struct{}), make(chan struct{})
	slow, quick := make(chan error, 1), make(chan error, 1)
	loaded := make(chan struct{})
	calls := 0
	go func() {
		slow <- b.Watch(t.Context(), "k", func([]store.Record) {
			if calls++; calls == 2 {
				close(stuck)
				<-release
			}
		})
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := make(chan int, 1)
	total := 0
	go func() {
		quick <- b.Watch(ctx, "k", func(records []store.Record) {
			if records == nil {
				close(loaded)
			}
			if total += len(records); total == 1+maxBehind/store.MaxValueLength {
				seen <- total
			}
		})
	}()
	<-loaded
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		b.hub.mu.Lock()
		n := len(b.hub.watchers)
		b.hub.mu.Unlock()
		if n == 2 {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the slow watcher does not begin")
		}
	}
	create := func(id string, size int) {
		r := record(id)
		r.Value = make([]byte, size)
		if _, err := b.Create(t.Context(), r); err != nil {
			t.Error(err)
		}
	}
	create("first", 1)
	<-stuck
	var writing sync.WaitGroup
	for i := range maxBehind / store.MaxValueLength {
		writing.Go(func() { create(fmt.Sprint(i), store.MaxValueLength) })
	}
	writing.Wait()
	<-seen
	cancel()
	if err := <-quick; !errors.Is(err, context.Canceled) {
		t.Errorf("the quick watcher ended with %v", err)
	}
	close(release)
	if err := <-slow; !errors.Is(err, errBehind) {
		t.Errorf("the slow watcher ended with %v, want errBehind", err)
	}
}

func BenchmarkParallelCreate(b *testing.B) {
	backend := open(b, Options{})
	before := commits(b, backend)
	b.SetParallelism(32)
	b.ReportAllocs()
	var next sync.Mutex
	n := 0
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			next.Lock()
			n++
			id := fmt.Sprintf("%x", uint64(n)*0x9e3779b97f4a7c15)
			next.Unlock()
			r := record(id)
			r.Expires = time.Now().Add(time.Hour)
			if _, err := backend.Create(b.Context(), r); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/float64(max(1, commits(b, backend)-before)), "writes/commit")
}
