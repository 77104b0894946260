package ratelimit

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestDrainedBucketsAreForgotten(t *testing.T) {
	at := time.Unix(1_900_000_000, 0)
	m, err := NewMemory(MemoryConfig{Keys: 1, Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	for reload := range 20 {
		p := &Policy{Name: fmt.Sprint("p", reload), Limit: 1, Window: time.Minute}
		for _, s := range []string{"a", "b"} {
			if _, err := m.Decide(context.Background(), Request{Charges: []Charge{{Policy: p, Subject: s}}}); err != nil {
				t.Fatal(err)
			}
		}
		if len(m.common.buckets) != 1 || m.common.active.Load() != 1 {
			t.Fatalf("%d buckets are held", len(m.common.buckets))
		}
		at = at.Add(time.Hour)
	}
}
