package store

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestCallTimesOfOneRequestAddUp(t *testing.T) {
	ctx := OneRequest(t.Context())
	inner, cancel := context.WithTimeout(context.WithoutCancel(OneRequest(ctx)), time.Minute)
	defer cancel()
	if WaitedIn(ctx) == nil || WaitedIn(inner) != WaitedIn(ctx) {
		t.Fatal("a part of a request has an account of its own")
	}
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			WaitedIn(inner).Add(time.Millisecond)
			WaitedIn(ctx).Add(-time.Hour)
		})
	}
	calls.Wait()
	if got := WaitedIn(ctx).Sum(); got != 50*time.Millisecond {
		t.Errorf("%v", got)
	}
	if other := OneRequest(t.Context()); WaitedIn(other).Sum() != 0 {
		t.Error("two requests share an account")
	}
}

func TestBackgroundWorkHasNoTimeBudget(t *testing.T) {
	none := WaitedIn(t.Context())
	if none.Add(time.Second); none != nil || none.Sum() != 0 {
		t.Error("it has")
	}
}
