package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
)

// feed is a running Watch of revocations.
type feed struct {
	cancel context.CancelFunc
	done   chan struct{}
	mu     sync.Mutex
	err    error
	seen   map[string]bool
}

// watch waits until all is loaded.
func watch(t *testing.T, b *Backend) *feed {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &feed{cancel: cancel, done: make(chan struct{}), seen: make(map[string]bool)}
	loaded := make(chan struct{})
	go func() {
		defer close(f.done)
		err := b.Watch(ctx, store.KindRevocation, func(records []store.Record) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, r := range records {
				f.seen[r.ID] = true
			}
			if records == nil {
				close(loaded)
			}
		})
		f.mu.Lock()
		defer f.mu.Unlock()
		f.err = err
	}()
	t.Cleanup(func() { cancel(); <-f.done })
	select {
	case <-loaded:
	case <-f.done:
		t.Fatal("Watch ended:", f.err)
	case <-time.After(10 * time.Second):
		t.Fatal("Watch does not load")
	}
	return f
}

func (f *feed) ended() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *feed) end(t *testing.T, within time.Duration) error {
	t.Helper()
	select {
	case <-f.done:
		return f.ended()
	case <-time.After(within):
		t.Fatalf("Watch does not end within %v", within)
		return nil
	}
}

func (f *feed) has(t *testing.T, id string, within time.Duration) time.Duration {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		f.mu.Lock()
		seen := f.seen[id]
		f.mu.Unlock()
		if seen {
			return time.Since(begin)
		}
		if time.Since(begin) > within {
			t.Fatalf("%s did not come within %v (Watch: %v)", id, within, f.ended())
		}
	}
}

func revocation(id string) store.Record {
	return store.Record{
		Key: store.Key{Kind: store.KindRevocation, ID: id}, Parent: store.RevocationParent, Value: []byte("v"), Expires: time.Now().Add(time.Hour),
	}
}

func TestLostNotificationsAreReadWithinASecond(t *testing.T) {
	server := redistest.Start(t)
	o := options(t, server.URL())
	writer, reader := open(t, o), open(t, o)
	f := watch(t, reader)
	must2(writer.Create(t.Context(), revocation("heard")))(t)
	heard := f.has(t, "heard", time.Second)
	server.CLI("acl", "setuser", "default", "resetchannels") // nobody may publish or subscribe
	must2(writer.Create(t.Context(), revocation("unheard")))(t)
	unheard := f.has(t, "unheard", time.Second)
	t.Logf("with the bell after %v, without after %v", heard, unheard)
	if heard > catchUp/2 {
		t.Errorf("the bell took %v", heard)
	}
}

func TestUnreadableFeedEndsWithinASecond(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Shared(t).Addr)
	b := open(t, options(t, proxy.URL()))
	f := watch(t, b)
	proxy.Blackhole()
	begin := time.Now()
	if err := f.end(t, 2*time.Second); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if took := time.Since(begin); took > time.Second+usualTimeout {
		t.Errorf("it ended after %v", took)
	}
}

// Who has just taken long to read much is not too late for the rest.
func TestSlowDeliveryDoesNotEndTheFeed(t *testing.T) {
	b := open(t, options(t, redistest.Shared(t).URL()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	err := b.Watch(ctx, store.KindRevocation, func(records []store.Record) {
		if records == nil {
			must2(b.Create(ctx, revocation("slow")))(t)
			return
		}
		got = append(got, records[0].ID)
		if len(got) == 1 {
			must2(b.Create(ctx, revocation("next")))(t)
			time.Sleep(maxBlind + usualTimeout)
			return
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) || len(got) != 2 || got[1] != "next" {
		t.Errorf("after %v it ended with %v", got, err)
	}
}

// A timeout for a Redis that is far away is longer than the second.
func TestFeedEndsWithinASecondDespiteALongStoreTimeout(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Shared(t).Addr)
	o := options(t, proxy.URL())
	o.Settings.Timeout = 5 * time.Second
	f := watch(t, open(t, o))
	proxy.Blackhole()
	begin := time.Now()
	if err := f.end(t, 2*time.Second); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it ended after %v", took)
	}
}

func TestFeedCatchesUpAfterAShortGap(t *testing.T) {
	server := redistest.Shared(t)
	proxy := redistest.NewProxy(t, server.Addr)
	o := options(t, server.URL())
	writer := open(t, o)
	o2 := options(t, proxy.URL())
	o2.Settings.Prefix = o.Settings.Prefix
	f := watch(t, open(t, o2))
	for i := range 2 {
		proxy.Cut()
		id := fmt.Sprint(i)
		must2(writer.Create(t.Context(), revocation(id)))(t)
		f.has(t, id, time.Second)
	}
}

func TestFeedRestartIsDetected(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, s *redistest.Server, b *Backend){
		"FLUSHALL": func(t *testing.T, s *redistest.Server, b *Backend) { s.CLI("flushall") },
		// As many as were lost, and more, are written before anybody looks.
		"FLUSHALL, and it goes on at once": func(t *testing.T, s *redistest.Server, b *Backend) {
			s.CLI("flushall")
			for i := range 9 {
				must2(b.Create(t.Context(), revocation(fmt.Sprint("new", i))))(t)
			}
		},
		// What a failover to a replica that lagged looks like.
		"the last writes are undone and others follow": func(t *testing.T, s *redistest.Server, b *Backend) {
			keys := b.feedKeys(store.KindRevocation)
			s.CLI("eval", `
				redis.call('HSET', KEYS[4], 'n', 3)
				local lost = redis.call('ZRANGEBYSCORE', KEYS[3], 4, '+inf')
				redis.call('ZREM', KEYS[3], unpack(lost))
				redis.call('ZREMRANGEBYSCORE', KEYS[1], 4, '+inf')`, "4", keys[0], keys[1], keys[2], keys[3])
			for i := range 9 {
				must2(b.Create(t.Context(), revocation(fmt.Sprint("new", i))))(t)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t)
			o := options(t, server.URL())
			b := open(t, o)
			for i := range 6 {
				must2(b.Create(t.Context(), revocation(fmt.Sprint("old", i))))(t)
			}
			proxy := redistest.NewProxy(t, server.Addr)
			o2 := options(t, proxy.URL())
			o2.Settings.Prefix = o.Settings.Prefix
			f := watch(t, open(t, o2))
			proxy.Latency(50 * time.Millisecond) // so that nobody looks in between
			lose(t, server, b)
			if err := f.end(t, 2*time.Second); !errors.Is(err, errRewound) {
				t.Errorf("it ended with %v, want errRewound", err)
			}
		})
	}
}

func TestExpiredRecordsLeaveTheFeed(t *testing.T) {
	server := redistest.Shared(t)
	b := open(t, options(t, server.URL()))
	for i := range 200 {
		r := revocation(fmt.Sprint(i))
		r.Expires = time.Now().Add(20 * time.Millisecond)
		must2(b.Create(t.Context(), r))(t)
	}
	time.Sleep(25 * time.Millisecond)
	for i := range 4 {
		must2(b.Create(t.Context(), revocation(fmt.Sprint("later", i))))(t)
	}
	keys := b.feedKeys(store.KindRevocation)
	for _, key := range keys[:2] {
		if n := server.CLI("zcard", key); n != "4" {
			t.Errorf("%s has %s entries, want 4", key, n)
		}
	}
}

func TestDeletedRecordsLeaveTheFeed(t *testing.T) {
	server := redistest.Shared(t)
	b := open(t, options(t, server.URL()))
	for _, d := range []time.Duration{0, time.Hour} {
		r := revocation(fmt.Sprint(d))
		if r.Expires = time.Now().Add(d); d == 0 {
			r.Expires = time.Time{}
		}
		must2(b.Create(t.Context(), r))(t)
		if err := b.Delete(t.Context(), r.Key); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range b.feedKeys(store.KindRevocation)[:2] {
		if n := server.CLI("zcard", key); n != "0" {
			t.Errorf("%s has %s entries", key, n)
		}
	}
}

func TestFeedHistoryIsLimited(t *testing.T) {
	server := redistest.Shared(t)
	o := options(t, server.URL())
	o.Settings.Timeout = 5 * time.Second // a machine full of tests is slow
	b := open(t, o)
	var writing sync.WaitGroup
	for w := range 32 {
		writing.Go(func() {
			for i := range 140 {
				if _, err := b.Create(t.Context(), revocation(fmt.Sprint(w, ".", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	if n := server.CLI("zcard", b.feedKeys(store.KindRevocation)[2]); n != "4096" {
		t.Errorf("the history has %s entries", n)
	}
	f := watch(t, b)
	if len(f.seen) != 32*140 {
		t.Errorf("%d of %d were loaded", len(f.seen), 32*140)
	}
}

func TestOnlyWatchedKindsCanBeWatched(t *testing.T) {
	b := open(t, options(t, redistest.Shared(t).URL()))
	for _, kind := range store.WatchedKinds() {
		if !b.watched[kind] {
			t.Errorf("nobody can watch the kind %s", kind)
		}
	}
	if err := b.Watch(t.Context(), store.KindGrant, nil); !errors.Is(err, errNotWatched) {
		t.Errorf("Watch: %v", err)
	}
}
