package gateway

import (
	"context"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func TestLimiterSizeIsCheckedAndAdjusted(t *testing.T) {
	for size, ok := range map[int64]bool{
		0: true, ratelimit.MinSize: true, ratelimit.MaxSize: true,
		-1: false, 1: false, ratelimit.MinSize - 1: false, ratelimit.MaxSize + 1: false,
	} {
		if err := (&MemoryLimiter{Size: size}).Provision(caddy.Context{}); (err == nil) != ok {
			t.Errorf("%d: %v", size, err)
		}
	}
	first, second := &MemoryLimiter{Size: 4 << 20}, &MemoryLimiter{Size: 8 << 20}
	if first.Identity() != second.Identity() {
		t.Error("limiters of different sizes do not share their counts")
	}
	l := lazy.NewLimiter(first)
	if _, ok := l.Stats(); ok {
		t.Error("a limiter that is not open holds something")
	}
	source, err := l.Source(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := l.Stats(); !ok || s.Size != 4<<20 {
		t.Errorf("%+v", s)
	}
	if err := second.Adjust(source); err != nil {
		t.Fatal(err)
	}
	if s, _ := l.Stats(); s.Size != 8<<20 {
		t.Errorf("after a reload: %+v", s)
	}
}
