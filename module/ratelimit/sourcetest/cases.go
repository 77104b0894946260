package sourcetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func tenSeconds(limit int64) *ratelimit.Policy {
	return &ratelimit.Policy{Name: "p", Limit: limit, Window: 10 * time.Second}
}

// burst asks n times at once and says how many passed.
func (b *bench) burst(n int, p *ratelimit.Policy, subject string) (passed int) {
	for range n {
		if b.decide(1, ratelimit.Charge{Policy: p, Subject: subject}).Admitted {
			passed++
		}
	}
	return passed
}

func boundary(b *bench) { // L03
	p, s := tenSeconds(100), b.subject()
	b.set(1_900_000_009_900)
	if n := b.burst(100, p, s); n != 100 {
		b.Fatalf("%d passed before the boundary, want 100", n)
	}
	b.pass(200 * time.Millisecond)
	if n := b.burst(100, p, s); n != 0 {
		b.Fatalf("%d passed after the boundary, want none", n)
	}
}

func steady(b *bench) { // L04
	p, s := tenSeconds(100), b.subject()
	passed := 0
	for range 60 * 50 {
		passed += b.burst(1, p, s)
		b.pass(20 * time.Millisecond)
	}
	if passed < 594 || passed > 606 {
		b.Fatalf("%d passed in a minute, want 600 within 1%%", passed)
	}
}

func refusalsExtendNothing(b *bench) { // L06
	p, s := tenSeconds(1), b.subject()
	b.want(true, p, s)
	ends := b.now().Add(b.want(false, p, s).Retry)
	if d := ends.Sub(b.now()); d <= 10*time.Second || d > 10*time.Second+167*time.Millisecond {
		b.Fatalf("Retry = %v", d)
	}
	for b.now().Before(ends) {
		if r := b.want(false, p, s); !b.now().Add(r.Retry).Equal(ends) {
			b.Fatalf("Retry = %v moved the end to %v", r.Retry, b.now().Add(r.Retry))
		}
		b.pass(min(time.Second, ends.Sub(b.now())))
	}
	b.want(true, p, s)
}

func limitChanged(b *bench) { // L14
	s := b.subject()
	b.burst(10, tenSeconds(10), s)
	b.pass(5 * time.Second)
	if r := b.want(true, tenSeconds(12), s); r.Remaining != 1 {
		b.Fatalf("%d remain under the higher limit, want 1", r.Remaining)
	}
	if r := b.want(false, tenSeconds(4), s); r.Remaining != 0 || r.Retry > 5167*time.Millisecond {
		b.Fatalf("under the lower limit: %+v", r)
	}
	b.pass(5167 * time.Millisecond)
	if r := b.want(true, tenSeconds(4), s); r.Remaining != 2 {
		b.Fatalf("%d remain after the first ten have gone, want 2", r.Remaining)
	}
}

func limitLowered(b *bench) { // L14
	s, begin := b.subject(), b.now()
	b.want(true, tenSeconds(20), s)
	b.pass(5 * time.Second)
	b.burst(9, tenSeconds(20), s)
	v := b.decide(5, ratelimit.Charge{Policy: tenSeconds(4), Subject: s})
	if r := v.Results[0]; r.Retry != ratelimit.Never || r.Remaining != 0 || r.Reset.Before(begin.Add(15*time.Second)) {
		b.Fatalf("a unit is promised while the window holds more than the limit: %+v", r)
	}
}

func windowChanged(b *bench) {
	s := b.subject()
	b.burst(10, tenSeconds(10), s)
	b.want(true, &ratelimit.Policy{Name: "p", Limit: 10, Window: 11 * time.Second}, s)
}

func neverFits(b *bench) {
	p, s := tenSeconds(5), b.subject()
	charge := ratelimit.Charge{Policy: p, Subject: s}
	for _, cost := range []int64{6, 1 << 40, 1<<63 - 1} {
		v := b.decide(cost, charge)
		if r := v.Results[0]; v.Admitted || !r.Violated || r.Retry != ratelimit.Never || r.Remaining != 5 {
			b.fails(v, nil)
		}
	}
	if v := b.decide(5, charge); !v.Admitted || v.Results[0].Remaining != 0 {
		b.fails(v, nil)
	}
	if v := b.decide(6, charge); v.Admitted || v.Results[0].Retry != ratelimit.Never {
		b.fails(v, nil)
	}
}

func dryRun(b *bench) {
	dry, p := tenSeconds(3), &ratelimit.Policy{Name: "enforced", Limit: 5, Window: 10 * time.Second}
	dry.DryRun = true
	charges := []ratelimit.Charge{{Policy: dry, Subject: b.subject()}, {Policy: p, Subject: b.subject()}}
	for i, want := range []struct {
		admitted, violated bool
		remaining          int64
	}{{true, false, 2}, {true, false, 1}, {true, false, 0}, {true, true, 0}, {true, true, 0}, {false, true, 0}} {
		v := b.decide(0, charges...)
		if r := v.Results[0]; v.Admitted != want.admitted || r.Violated != want.violated || r.Remaining != want.remaining ||
			r.Violated != (r.Retry > 0) || v.Reported().Policy != p {
			b.Errorf("request %d: %+v", i, v)
		}
	}
}

func isolation(b *bench) { // L07
	p, long := tenSeconds(1), b.subject()+strings.Repeat("x", 1000)
	other := &ratelimit.Policy{Name: "q", Limit: 1, Window: 10 * time.Second}
	for _, s := range []string{b.subject(), b.subject(), long, long + "y", ratelimit.Subject(long), b.subject() + ":\x00{}\xff"} {
		b.want(true, p, s)
		b.want(false, p, s)
		b.want(true, other, s)
	}
}

func limiters(b *bench) {
	s, first, second, none := b.subject(), tenSeconds(2), tenSeconds(2), tenSeconds(2)
	first.Limiter, second.Limiter = "a", "b"
	for _, p := range []*ratelimit.Policy{first, second, none} {
		if r := b.want(true, p, s); r.Remaining != 1 {
			b.Fatalf("%q: %d remain, want 1", p.Limiter, r.Remaining)
		}
	}
	b.want(true, first, s)
	b.want(false, first, s)
	if r := b.want(true, second, s); r.Remaining != 0 {
		b.Fatalf("%d remain, want none", r.Remaining)
	}
	b.want(true, none, s)
}

func malformed(b *bench) {
	c := ratelimit.Charge{Policy: tenSeconds(1), Subject: b.subject()}
	twice := ratelimit.Charge{Policy: tenSeconds(2), Subject: b.subject()}
	foreign := ratelimit.Charge{Policy: &ratelimit.Policy{Limiter: "other", Name: "q", Limit: 1, Window: time.Minute}, Subject: b.subject()}
	for _, r := range []ratelimit.Request{
		{Charges: []ratelimit.Charge{c}, Cost: -1},
		{Charges: []ratelimit.Charge{c, twice}},
		{Charges: []ratelimit.Charge{c, foreign}},
		{Charges: []ratelimit.Charge{c, {Subject: "no policy"}}},
		{Charges: []ratelimit.Charge{{Policy: new(ratelimit.Policy)}}},
		{Charges: []ratelimit.Charge{{Policy: tenSeconds(1 << 32)}}},
		{Charges: slices.Repeat([]ratelimit.Charge{c}, ratelimit.MaxCharges+1)},
	} {
		if v, err := b.source.Decide(context.Background(), r); !errors.Is(err, ratelimit.ErrRequest) || v.Admitted {
			b.fails(v, err)
		}
	}
	b.want(true, c.Policy, c.Subject)
	if v := b.decide(1); !v.Admitted {
		b.Fatal("a request without policies was refused")
	}
}

func storage(b *bench) {
	results := make([]ratelimit.Result, 1, 4)
	charges := []ratelimit.Charge{{Policy: tenSeconds(1), Subject: b.subject()}}
	v, err := b.source.Decide(context.Background(), ratelimit.Request{Charges: charges, Results: results})
	if err != nil || len(v.Results) != 1 || &v.Results[0] != &results[0] {
		b.fails(v, err)
	}
}
