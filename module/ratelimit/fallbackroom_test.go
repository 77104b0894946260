package ratelimit

import (
	"fmt"
	"testing"
	"time"
)

func TestFallbackSharedBucketsAreLimitedAndExpire(t *testing.T) {
	at := time.Unix(1_900_000_000, 0)
	f, err := NewFallback(FallbackConfig{Nodes: func() int { return 1 }, Subjects: 8, Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(policy string, n int) {
		for i := range n {
			r := Request{Charges: []Charge{{Policy: &Policy{Name: policy, Limit: 4, Window: time.Hour}, Subject: fmt.Sprint(i)}}}
			if _, err := f.Decide(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask("before a reload", 20_000)
	if n := len(f.shared); n > sharedBuckets || n < sharedBuckets/2 {
		t.Fatalf("%d buckets are shared by 20000 subjects", n)
	}
	at = at.Add(2 * time.Hour)
	for range 50 {
		ask("after it", 20)
		at = at.Add(2 * time.Hour)
	}
	if n := len(f.shared); n > sharedBuckets/2 {
		t.Fatalf("%d buckets are left", n)
	}
}
