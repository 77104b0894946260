package gateway

import (
	"context"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestARefusalIsHeldBackUnlessTooManyAre(t *testing.T) { // N10
	o, err := newOverload()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		held := func(already int64, ctx context.Context) time.Duration {
			o.held.Store(already)
			begun := time.Now()
			o.hold(httptest.NewRequest("GET", "/", nil).WithContext(ctx), time.Second)
			if now := o.held.Load(); now != already {
				t.Errorf("%d are held afterwards, %d before", now, already)
			}
			return time.Since(begun)
		}
		if took := held(maxHeld-1, t.Context()); took != time.Second {
			t.Errorf("the last that there is room for waits for %v", took)
		}
		if took := held(maxHeld, t.Context()); took != 0 {
			t.Errorf("one more waits for %v", took)
		}
		gone, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if took := held(0, gone); took != time.Millisecond {
			t.Errorf("a client that left is held for %v", took)
		}
	})
}
