package gateway

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// resource counts how often it was closed.
type resource struct{ closed atomic.Int32 }

func (r *resource) Destruct() error { r.closed.Add(1); return nil }

func TestTheLastHolderOfALeaseGivesTheResourceBack(t *testing.T) {
	pool, res := caddy.NewUsagePool(), new(resource)
	var h holdings
	if _, err := hold(&h, pool, "key", func() (*resource, error) { return res, nil }); err != nil {
		t.Fatal(err)
	}
	l := h.lease()
	h.giveBack() // what the lease holds is no longer the holdings'
	var requests sync.WaitGroup
	release := make(chan struct{})
	for range 50 {
		leave, err := l.enter()
		if err != nil {
			t.Fatal(err)
		}
		requests.Go(func() { <-release; leave() })
	}
	l.leave() // the configuration is cleaned up
	if n := res.closed.Load(); n != 0 {
		t.Fatalf("closed %d times under requests in flight", n)
	}
	close(release)
	requests.Wait()
	if n := res.closed.Load(); n != 1 {
		t.Fatalf("closed %d times, want once", n)
	}
	if _, ok := pool.References("key"); ok {
		t.Error("the pool still holds it")
	}
}

func TestALateRequestTakesTheResourceForItself(t *testing.T) {
	pool, res := caddy.NewUsagePool(), new(resource)
	var h holdings
	if _, err := hold(&h, pool, "key", func() (*resource, error) { return res, nil }); err != nil {
		t.Fatal(err)
	}
	l := h.lease()
	l.leave()
	leave, err := l.enter()
	if err != nil {
		t.Fatal(err)
	}
	if refs, _ := pool.References("key"); refs != 1 {
		t.Errorf("%d references during the late request, want 1", refs)
	}
	leave()
	if refs, ok := pool.References("key"); ok {
		t.Errorf("%d references after it, want none", refs)
	}

	// Meanwhile a newer configuration may have made another one under the same key.
	var newer holdings
	if _, err := hold(&newer, pool, "key", func() (*resource, error) { return new(resource), nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := l.enter(); !errors.Is(err, errGone) {
		t.Errorf("a late request got %v, want errGone: its resource is closed and the key another's", err)
	}
	if refs, _ := pool.References("key"); refs != 1 {
		t.Errorf("%d references left, want the newer configuration's one", refs)
	}
	newer.giveBack()
}

func TestHoldingsAreGivenBackOnceAfterAFailure(t *testing.T) {
	pool, res := caddy.NewUsagePool(), new(resource)
	var good, bad holdings
	for _, h := range []*holdings{&good, &bad} {
		if _, err := hold(h, pool, "key", func() (*resource, error) { return res, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := hold(&bad, pool, "other", func() (*resource, error) { return nil, errors.New("no") }); err == nil {
		t.Fatal("a failed construction gave no error")
	}
	bad.giveBack()
	bad.giveBack()
	if refs, _ := pool.References("key"); refs != 1 || res.closed.Load() != 0 {
		t.Errorf("%d references, closed %d times: the failure took more than its own", refs, res.closed.Load())
	}
	good.giveBack()
}
