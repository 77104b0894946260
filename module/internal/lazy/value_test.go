package lazy

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestParallelFirstUsesOpenOnceAndCacheFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened, away := 0, errors.New("away")
		fault := away
		open := func(context.Context) (int, error) { // under the lock of lazy
			opened++
			return opened, fault
		}
		var l Value[int]
		all := func(want int, wantErr error) {
			t.Helper()
			var users sync.WaitGroup
			for range 20 {
				users.Go(func() {
					if v, err := l.Get(t.Context(), open); v != want || !errors.Is(err, wantErr) {
						t.Errorf("%d, %v", v, err)
					}
				})
			}
			users.Wait()
		}
		all(0, away)
		if opened != 1 {
			t.Errorf("tried %d times", opened)
		}
		fault = nil
		all(0, away)
		time.Sleep(openRetry)
		all(2, nil)
		shut := 0
		for range 2 {
			if err := l.drop(func(v int) error { shut += v; return away }); shut != 2 || err != nil && !errors.Is(err, away) {
				t.Errorf("closed %d, %v", shut, err)
			}
		}
		all(3, nil)
	})
}

// A guard asks for every request, also while somebody opens the same anew.
func TestOpenValueIsReturnedWithoutLocking(t *testing.T) {
	var l Value[int]
	open := func(context.Context) (int, error) { return 7, nil }
	if _, err := l.Get(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if v, err := l.Get(t.Context(), open); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}
