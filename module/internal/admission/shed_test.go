package admission

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestOverloadRefusalsAreDelayedUpToACap(t *testing.T) { // N10
	s := NewShedder(slog.New(slog.DiscardHandler))
	synctest.Test(t, func(t *testing.T) {
		held := func(already int64, ctx context.Context) time.Duration {
			s.held.Store(already)
			begun := time.Now()
			s.hold(ctx, time.Second)
			if now := s.held.Load(); now != already {
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
