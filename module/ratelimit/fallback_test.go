package ratelimit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func fallback(t testing.TB, nodes, subjects int, now func() time.Time) *ratelimit.Fallback {
	t.Helper()
	f, err := ratelimit.NewFallback(ratelimit.FallbackConfig{Nodes: func() int { return nodes }, Subjects: subjects, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func without(t testing.TB, f *ratelimit.Fallback, cost int64, charges ...ratelimit.Charge) ratelimit.Verdict {
	t.Helper()
	v, err := f.Decide(ratelimit.Request{Charges: charges, Cost: cost})
	if err != nil || !v.Outage {
		t.Fatalf("%+v, %v", v, err)
	}
	return v
}

func TestFallbackNodesTogetherStayWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		nodes := make([]*ratelimit.Fallback, rapid.IntRange(1, 4).Draw(t, "nodes"))
		for i := range nodes {
			f, err := ratelimit.NewFallback(ratelimit.FallbackConfig{
				Nodes: func() int { return len(nodes) }, Subjects: rapid.IntRange(8, 11).Draw(t, "subjects"), Now: c.now,
			})
			if err != nil {
				t.Fatal(err)
			}
			nodes[i] = f
		}
		policies := []*ratelimit.Policy{
			{Name: "a", Limit: rapid.Int64Range(1, 40).Draw(t, "a"), Window: time.Second},
			{Name: "b", Limit: rapid.Int64Range(1, 40).Draw(t, "b"), Window: 3 * time.Second},
		}
		type key struct {
			policy  int
			subject string
		}
		type unit struct {
			at   time.Time
			cost int64
		}
		log := map[key][]unit{}
		for range 200 {
			c.at = c.at.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "pause")) * time.Millisecond)
			f := nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "node")]
			cost := rapid.Int64Range(1, 3).Draw(t, "cost")
			subject := fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "subject"))
			v, err := f.Decide(ratelimit.Request{Cost: cost, Charges: []ratelimit.Charge{{Policy: policies[0], Subject: subject}, {Policy: policies[1], Subject: subject}}})
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range policies {
				r := v.Results[i]
				if r.Limit != p.Limit || r.Remaining < 0 || r.Remaining > p.Limit || r.Reset.Before(v.At) || r.Violated != (r.Retry != 0) {
					t.Fatalf("%+v", r)
				}
				if !v.Admitted {
					continue
				}
				k := key{i, subject}
				log[k] = append(log[k], unit{c.at, cost})
				within := int64(0)
				for _, u := range log[k] {
					if c.at.Sub(u.at) <= p.Window {
						within += u.cost
					}
				}
				if within > p.Limit {
					t.Fatalf("%d in a window, over %d", within, p.Limit)
				}
			}
		}
	})
}

func TestFallbackGivesANodeItsShare(t *testing.T) {
	c := newClock()
	f := fallback(t, 2, 0, c.now)
	p := &ratelimit.Policy{Name: "p", Limit: 40, Window: 10 * time.Second}
	s := ratelimit.Charge{Policy: p, Subject: "s"}
	if v := without(t, f, 1, s); !v.Admitted || v.Results[0].Remaining != 9 || v.Results[0].Limit != 40 {
		t.Fatalf("at first: %+v", v)
	}
	if v := without(t, f, 9, s); !v.Admitted || v.Results[0].Remaining != 0 {
		t.Fatalf("a quarter of the limit at once: %+v", v)
	}
	v := without(t, f, 1, s)
	if r := v.Results[0]; v.Admitted || r.Remaining != 0 || r.Retry < time.Second || r.Retry > 1002*time.Millisecond || !r.Reset.Equal(v.At.Add(r.Retry)) {
		t.Fatalf("and then: %+v", v)
	}
	c.at = c.at.Add(v.Results[0].Retry)
	if v := without(t, f, 1, s); !v.Admitted {
		t.Fatalf("refused after Retry: %+v", v)
	}
	if v := without(t, f, 11, s); v.Admitted || v.Results[0].Retry != 10*time.Second {
		t.Fatalf("more than a bucket holds: %+v", v)
	}
	if v := without(t, f, 41, s); v.Admitted || v.Results[0].Retry != ratelimit.Never {
		t.Fatalf("more than the limit: %+v", v)
	}
}

func TestSmallLimitsDuringAnOutage(t *testing.T) {
	for _, c := range []struct {
		limit int64
		nodes int
		want  int
	}{{1, 1, 1}, {3, 2, 1}, {3, 3, 1}, {2, 3, 0}, {8, 2, 2}, {8, 0, 4}} {
		clock := newClock()
		f := fallback(t, c.nodes, 0, clock.now)
		s := ratelimit.Charge{Policy: &ratelimit.Policy{Name: "p", Limit: c.limit, Window: time.Second}, Subject: "s"}
		passed := 0
		for range 10 {
			if without(t, f, 1, s).Admitted {
				passed++
			}
		}
		if passed != c.want {
			t.Errorf("limit %d on %d nodes: %d pass at once, want %d", c.limit, c.nodes, passed, c.want)
		}
	}
}

func TestFallbackDenialChargesNoPolicyAndDryRunAdmits(t *testing.T) {
	c := newClock()
	f := fallback(t, 1, 0, c.now)
	wide, narrow := &ratelimit.Policy{Name: "wide", Limit: 20, Window: time.Second}, &ratelimit.Policy{Name: "narrow", Limit: 2, Window: time.Second}
	charges := []ratelimit.Charge{{Policy: wide, Subject: "s"}, {Policy: narrow, Subject: "s"}}
	without(t, f, 1, charges...)
	for range 10 {
		if v := without(t, f, 1, charges...); v.Admitted || v.Results[0].Remaining != 9 {
			t.Fatalf("%+v", v)
		}
	}
	narrow.DryRun = true
	if v := without(t, f, 1, charges...); !v.Admitted || !v.Results[1].Violated || v.Results[0].Remaining != 8 {
		t.Fatalf("%+v", v)
	}
}

// At the cap a new subject shares one of thousands of buckets: a greedy one is in the way of
// few.
func TestFallbackSubjectsAreLimited(t *testing.T) {
	c := newClock()
	f := fallback(t, 1, 40, c.now)
	p := &ratelimit.Policy{Name: "p", Limit: 4, Window: time.Minute}
	for range 100 {
		without(t, f, 1, ratelimit.Charge{Policy: p, Subject: "has a bucket of its own"})
	}
	for i := range 32 {
		without(t, f, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint("first", i)})
	}
	greedy := 0
	for range 100 {
		if v := without(t, f, 1, ratelimit.Charge{Policy: p, Subject: "greedy"}); v.Admitted {
			greedy++
		}
	}
	if greedy > 2 {
		t.Errorf("%d of the greedy one's requests pass", greedy)
	}
	passed := 0
	for i := range 1000 {
		v := without(t, f, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i) + strings.Repeat("x", 100)})
		if v.Admitted {
			passed++
		}
		if !v.Results[0].Shared {
			t.Fatalf("subject %d has a bucket of its own", i)
		}
	}
	if passed < 950 {
		t.Errorf("of 1000 new subjects %d pass", passed)
	}
	c.at = c.at.Add(time.Hour)
	if v := without(t, f, 2, ratelimit.Charge{Policy: p, Subject: "later"}); !v.Admitted || v.Results[0].Shared {
		t.Fatalf("no room is made of buckets that are full again: %+v", v)
	}
}

func TestEvictionSparesTheRequestsOwnBuckets(t *testing.T) {
	c := newClock()
	f := fallback(t, 1, 8, c.now)
	a := ratelimit.Charge{Policy: &ratelimit.Policy{Name: "a", Limit: 2, Window: time.Second}, Subject: "s"}
	b := ratelimit.Charge{Policy: &ratelimit.Policy{Name: "b", Limit: 2, Window: time.Second}, Subject: "s"}
	without(t, f, 1, a)
	c.at = c.at.Add(time.Minute)
	if v := without(t, f, 1, a, b); !v.Admitted {
		t.Fatalf("%+v", v)
	}
	if v := without(t, f, 1, a); v.Admitted {
		t.Fatalf("what was taken is forgotten: %+v", v)
	}
}

func TestOutageOpenAndClosed(t *testing.T) {
	f := fallback(t, 1, 0, nil)
	r := ratelimit.Request{Charges: []ratelimit.Charge{{Policy: tenUnits(), Subject: "s"}}, OnOutage: ratelimit.OutageOpen}
	if v, err := f.Decide(r); err != nil || !v.Admitted || !v.Outage || len(v.Results) != 0 || v.At.IsZero() {
		t.Errorf("%+v, %v", v, err)
	}
	for _, o := range []ratelimit.Outage{ratelimit.OutageClosed, 77} {
		r.OnOutage = o
		if v, err := f.Decide(r); !errors.Is(err, ratelimit.ErrUnavailable) || v.Admitted {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if _, err := f.Decide(ratelimit.Request{Cost: -1, OnOutage: ratelimit.OutageOpen}); !errors.Is(err, ratelimit.ErrRequest) {
		t.Error(err)
	}
	if _, err := ratelimit.NewFallback(ratelimit.FallbackConfig{}); err == nil {
		t.Error("a fallback without a number of nodes was made")
	}
}

func tenUnits() *ratelimit.Policy {
	return &ratelimit.Policy{Name: "p", Limit: 10, Window: time.Minute}
}
