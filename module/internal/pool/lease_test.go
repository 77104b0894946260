package pool

import (
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
)

// resource counts how often it was closed.
type resource struct{ closed atomic.Int32 }

func (r *resource) Destruct() error { r.closed.Add(1); return nil }

func references(key string) (int, bool) {
	return shared.References(typedKey{reflect.TypeFor[*resource](), key})
}

func TestLastLeaseHolderReleasesTheResource(t *testing.T) {
	res := new(resource)
	var h Holdings
	if _, err := Hold(&h, "key", func() (*resource, error) { return res, nil }); err != nil {
		t.Fatal(err)
	}
	l := h.Lease()
	h.GiveBack() // what the lease holds is no longer the holdings'
	var requests sync.WaitGroup
	release := make(chan struct{})
	for range 50 {
		leave, err := l.Enter()
		if err != nil {
			t.Fatal(err)
		}
		requests.Go(func() { <-release; leave() })
	}
	l.Leave() // the configuration is cleaned up
	if n := res.closed.Load(); n != 0 {
		t.Fatalf("closed %d times under requests in flight", n)
	}
	close(release)
	requests.Wait()
	if n := res.closed.Load(); n != 1 {
		t.Fatalf("closed %d times, want once", n)
	}
	if _, ok := references("key"); ok {
		t.Error("the pool still holds it")
	}
}

func TestLateRequestTakesTheResourceItself(t *testing.T) {
	res := new(resource)
	var h Holdings
	if _, err := Hold(&h, "key", func() (*resource, error) { return res, nil }); err != nil {
		t.Fatal(err)
	}
	l := h.Lease()
	l.Leave()
	leave, err := l.Enter()
	if err != nil {
		t.Fatal(err)
	}
	if refs, _ := references("key"); refs != 1 {
		t.Errorf("%d references during the late request, want 1", refs)
	}
	leave()
	if refs, ok := references("key"); ok {
		t.Errorf("%d references after it, want none", refs)
	}

	// Meanwhile a newer configuration may have made another one under the same key.
	var newer Holdings
	if _, err := Hold(&newer, "key", func() (*resource, error) { return new(resource), nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Enter(); !errors.Is(err, ErrGone) {
		t.Errorf("a late request got %v, want ErrGone: its resource is closed and the key another's", err)
	}
	if refs, _ := references("key"); refs != 1 {
		t.Errorf("%d references left, want the newer configuration's one", refs)
	}
	newer.GiveBack()
}

func TestResourceIsReleasedOnceAfterAFailure(t *testing.T) {
	res := new(resource)
	var good, bad Holdings
	for _, h := range []*Holdings{&good, &bad} {
		if _, err := Hold(h, "key", func() (*resource, error) { return res, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Hold(&bad, "other", func() (*resource, error) { return nil, errors.New("no") }); err == nil {
		t.Fatal("a failed construction gave no error")
	}
	bad.GiveBack()
	bad.GiveBack()
	if refs, _ := references("key"); refs != 1 || res.closed.Load() != 0 {
		t.Errorf("%d references, closed %d times: the failure took more than its own", refs, res.closed.Load())
	}
	good.GiveBack()
}
