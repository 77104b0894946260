package ratelimit_test

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func TestReducedFallbackQuotaAppliesToKnownSubjects(t *testing.T) {
	nodes, c := 1, newClock()
	f, err := ratelimit.NewFallback(ratelimit.FallbackConfig{Nodes: func() int { return nodes }, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	passed := func(limit int64) (n int) {
		for range 100 {
			if without(t, f, 1, ratelimit.Charge{Policy: &ratelimit.Policy{Name: "p", Limit: limit, Window: time.Minute}, Subject: "s"}).Admitted {
				n++
			}
		}
		return n
	}
	without(t, f, 1, ratelimit.Charge{Policy: &ratelimit.Policy{Name: "p", Limit: 80, Window: time.Minute}, Subject: "s"})
	nodes = 4
	if n := passed(80); n != 10 {
		t.Errorf("%d pass with four nodes, want 10", n)
	}
	c.at = c.at.Add(time.Minute)
	if n := passed(40); n != 5 { // a reload
		t.Errorf("%d pass under half the limit, want 5", n)
	}
	nodes = 1
	if n := passed(40); n != 0 {
		t.Errorf("%d pass because a bucket has grown, want none", n)
	}
}

func TestFallbackRetryIsShortForATooLargeRequest(t *testing.T) {
	c := newClock()
	f := fallback(t, 2, 0, c.now)
	v := without(t, f, 30, ratelimit.Charge{Policy: &ratelimit.Policy{Name: "p", Limit: 100, Window: 24 * time.Hour}, Subject: "s"})
	if r := v.Results[0]; v.Admitted || r.Retry != 30*time.Second || !r.Reset.Equal(v.At.Add(r.Retry)) {
		t.Fatalf("%+v", v)
	}
}
