package redis

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestCloseLeavesNoConnectionsOrGoroutines(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Shared(t).Addr)
	before := runtime.NumGoroutine()
	for _, hurt := range []func(){func() {}, proxy.Blackhole, proxy.Reset, proxy.Heal} {
		b, err := Open(options(t, proxy.URL()))
		if err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() { _ = b.Watch(t.Context(), store.KindRevocation, func([]store.Record) {}) })
		}
		for i := range 40 {
			calls.Go(func() {
				for n := range 3 {
					_, _ = b.Create(t.Context(), record(fmt.Sprint(i, ".", n)))
				}
			})
		}
		time.Sleep(20 * time.Millisecond)
		hurt()
		calls.Go(func() { time.Sleep(50 * time.Millisecond); _ = b.Close() })
		calls.Wait()
		begin := time.Now()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > within {
			t.Errorf("Close took %v", took)
		}
		if _, err := b.Get(t.Context(), record("a").Key); !errors.Is(err, errClosed) || b.Health() == nil {
			t.Errorf("Get: %v", err)
		}
	}
	for until := time.Now().Add(5 * time.Second); proxy.Conns() > 0 || runtime.NumGoroutine() > before+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d connections and %d goroutines are left, %d were there before\n%s", proxy.Conns(), runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// E05: a caller that gives up must not leave its answer to the next one.
func TestAnswersAreNeverCrossed(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Shared(t).Addr)
	o := options(t, proxy.URL())
	b := open(t, o)
	const callers = 32
	each := 250
	if rounds() > 1 {
		each = 1_000_000 / callers
	}
	for i := range callers {
		r := record(fmt.Sprint(i))
		r.Value = []byte(fmt.Sprint("value of ", i))
		must2(b.Create(t.Context(), r))(t)
	}
	var calls sync.WaitGroup
	answered := make([]int, callers)
	for i := range callers {
		calls.Go(func() {
			for n := range each {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n*i%400)*50*time.Microsecond)
				if n%7 == 0 {
					cancel()
					ctx, cancel = context.WithCancel(t.Context())
					time.AfterFunc(time.Duration(n%50)*10*time.Microsecond, cancel)
				}
				r, err := b.Get(ctx, store.Key{Kind: "k", ID: fmt.Sprint(i)})
				cancel()
				switch {
				case err == nil && string(r.Value) != fmt.Sprint("value of ", i):
					t.Errorf("%d got %q", i, r.Value)
				case err == nil:
					answered[i]++
				case store.IsAnswer(err):
					t.Errorf("Get: %v", err)
				}
			}
		})
	}
	stop := make(chan struct{})
	var hurting sync.WaitGroup
	hurting.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(60 * time.Millisecond):
				proxy.Cut()
			case <-time.After(50 * time.Millisecond):
				proxy.DropReplies(1, "GET")
			}
		}
	})
	calls.Wait()
	close(stop)
	hurting.Wait()
	total := 0
	for _, n := range answered {
		total += n
	}
	t.Logf("%d of %d calls were answered", total, callers*each)
	if total == 0 {
		t.Error("none was answered")
	}
}
