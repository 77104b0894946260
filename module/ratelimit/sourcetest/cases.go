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

// countAdmitted asks n times at once and says how many passed.
func (b *bench) countAdmitted(n int, p *ratelimit.Policy, subject string) (passed int) {
	for range n {
		if b.decide(1, ratelimit.Charge{Policy: p, Subject: subject}).Admitted {
			passed++
		}
	}
	return passed
}

func testWindowBoundary(b *bench) { // L03
	p, s := tenSeconds(100), b.newSubject()
	b.setClock(1_900_000_009_900)
	if n := b.countAdmitted(100, p, s); n != 100 {
		b.Fatalf("%d passed before the boundary, want 100", n)
	}
	b.advanceClock(200 * time.Millisecond)
	if n := b.countAdmitted(100, p, s); n != 0 {
		b.Fatalf("%d passed after the boundary, want none", n)
	}
}

func testSteadyRate(b *bench) { // L04
	p, s := tenSeconds(100), b.newSubject()
	passed := 0
	for range 60 * 50 {
		passed += b.countAdmitted(1, p, s)
		b.advanceClock(20 * time.Millisecond)
	}
	if passed < 594 || passed > 606 {
		b.Fatalf("%d passed in a minute, want 600 within 1%%", passed)
	}
}

// A source may have been granted some of a large limit in advance: one that asks alone notices nothing of it.
func testLargeLimit(b *bench) {
	b.wantLargeLimit("", "")
	b.wantLargeLimit("common", ratelimit.BySubject)
	b.wantLargeLimit(ratelimit.BySubject, "common")
}

func (b *bench) wantLargeLimit(place, otherPlace string) {
	const limit, other = 1000, 5000
	p := &ratelimit.Policy{Name: "p", Limit: limit, Window: time.Minute, Place: place}
	charges := []ratelimit.Charge{
		{Policy: &ratelimit.Policy{Name: "other", Limit: other, Window: time.Hour, Place: otherPlace}, Subject: b.newSubject()},
		{Policy: p, Subject: b.newSubject()},
	}
	for n := range int64(limit + limit/4) {
		v := b.decide(1, charges...)
		if v.Admitted != (n < limit) || v.Results[1].Remaining != max(0, limit-1-n) || v.Admitted && v.Results[0].Remaining != other-1-n {
			b.Fatalf("request %d: %+v", n, v)
		}
		if v.Admitted {
			b.advanceClock(time.Duration(n%3) * time.Millisecond)
		}
	}
	b.advanceClock(b.wantVerdict(false, p, charges[1].Subject).Retry)
	b.wantVerdict(true, p, charges[1].Subject)
}

func refusalsExtendNothing(b *bench) { // L06
	p, s := tenSeconds(1), b.newSubject()
	b.wantVerdict(true, p, s)
	ends := b.now().Add(b.wantVerdict(false, p, s).Retry)
	if d := ends.Sub(b.now()); d <= 10*time.Second || d > 10*time.Second+167*time.Millisecond {
		b.Fatalf("Retry = %v", d)
	}
	for b.now().Before(ends) {
		if r := b.wantVerdict(false, p, s); !b.now().Add(r.Retry).Equal(ends) {
			b.Fatalf("Retry = %v moved the end to %v", r.Retry, b.now().Add(r.Retry))
		}
		b.advanceClock(min(time.Second, ends.Sub(b.now())))
	}
	b.wantVerdict(true, p, s)
}

func limitChanged(b *bench) { // L14
	s := b.newSubject()
	b.countAdmitted(10, tenSeconds(10), s)
	b.advanceClock(5 * time.Second)
	if r := b.wantVerdict(true, tenSeconds(12), s); r.Remaining != 1 {
		b.Fatalf("%d remain under the higher limit, want 1", r.Remaining)
	}
	if r := b.wantVerdict(false, tenSeconds(4), s); r.Remaining != 0 || r.Retry > 5167*time.Millisecond {
		b.Fatalf("under the lower limit: %+v", r)
	}
	b.advanceClock(5167 * time.Millisecond)
	if r := b.wantVerdict(true, tenSeconds(4), s); r.Remaining != 2 {
		b.Fatalf("%d remain after the first ten have gone, want 2", r.Remaining)
	}
}

func limitLowered(b *bench) { // L14
	s, begin := b.newSubject(), b.now()
	b.wantVerdict(true, tenSeconds(20), s)
	b.advanceClock(5 * time.Second)
	b.countAdmitted(9, tenSeconds(20), s)
	v := b.decide(5, ratelimit.Charge{Policy: tenSeconds(4), Subject: s})
	if r := v.Results[0]; r.Retry != ratelimit.Never || r.Remaining != 0 || r.Reset.Before(begin.Add(15*time.Second)) {
		b.Fatalf("a unit is promised while the window holds more than the limit: %+v", r)
	}
}

func windowChanged(b *bench) {
	s := b.newSubject()
	b.countAdmitted(10, tenSeconds(10), s)
	b.wantVerdict(true, &ratelimit.Policy{Name: "p", Limit: 10, Window: 11 * time.Second}, s)
}

func neverFits(b *bench) {
	p, s := tenSeconds(5), b.newSubject()
	charge := ratelimit.Charge{Policy: p, Subject: s}
	for _, cost := range []int64{6, 1 << 40, 1<<63 - 1} {
		v := b.decide(cost, charge)
		if r := v.Results[0]; v.Admitted || !r.Violated || r.Retry != ratelimit.Never || r.Remaining != 5 {
			b.failDecide(v, nil)
		}
	}
	if v := b.decide(5, charge); !v.Admitted || v.Results[0].Remaining != 0 {
		b.failDecide(v, nil)
	}
	if v := b.decide(6, charge); v.Admitted || v.Results[0].Retry != ratelimit.Never {
		b.failDecide(v, nil)
	}
}

func dryRun(b *bench) {
	b.wantDryRun("", "")
	b.wantDryRun("common", ratelimit.BySubject)
	b.wantDryRun(ratelimit.BySubject, "common")
}

func (b *bench) wantDryRun(dryPlace, place string) {
	dry, p := tenSeconds(3), &ratelimit.Policy{Name: "enforced", Limit: 5, Window: 10 * time.Second}
	dry.DryRun, dry.Place, p.Place = true, dryPlace, place
	charges := []ratelimit.Charge{{Policy: dry, Subject: b.newSubject()}, {Policy: p, Subject: b.newSubject()}}
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

func testIsolation(b *bench) { // L07
	p, long := tenSeconds(1), b.newSubject()+strings.Repeat("x", 1000)
	other := &ratelimit.Policy{Name: "q", Limit: 1, Window: 10 * time.Second}
	for _, s := range []string{b.newSubject(), b.newSubject(), long, long + "y", ratelimit.Subject(long), b.newSubject() + ":\x00{}\xff"} {
		b.wantVerdict(true, p, s)
		b.wantVerdict(false, p, s)
		b.wantVerdict(true, other, s)
	}
}

func testLimiters(b *bench) {
	s, first, second, none := b.newSubject(), tenSeconds(2), tenSeconds(2), tenSeconds(2)
	first.Limiter, second.Limiter = "a", "b"
	for _, p := range []*ratelimit.Policy{first, second, none} {
		if r := b.wantVerdict(true, p, s); r.Remaining != 1 {
			b.Fatalf("%q: %d remain, want 1", p.Limiter, r.Remaining)
		}
	}
	b.wantVerdict(true, first, s)
	b.wantVerdict(false, first, s)
	if r := b.wantVerdict(true, second, s); r.Remaining != 0 {
		b.Fatalf("%d remain, want none", r.Remaining)
	}
	b.wantVerdict(true, none, s)
}

func testMalformedRequests(b *bench) {
	c := ratelimit.Charge{Policy: tenSeconds(1), Subject: b.newSubject()}
	twice := ratelimit.Charge{Policy: tenSeconds(2), Subject: b.newSubject()}
	foreign := ratelimit.Charge{Policy: &ratelimit.Policy{Limiter: "other", Name: "q", Limit: 1, Window: time.Minute}, Subject: b.newSubject()}
	elsewhere := ratelimit.Charge{Policy: &ratelimit.Policy{Name: "q", Limit: 1, Window: time.Minute, Place: "q"}, Subject: c.Subject}
	first, second := tenSeconds(1), &ratelimit.Policy{Name: "q", Limit: 1, Window: time.Minute, Place: ratelimit.BySubject}
	first.Place = ratelimit.BySubject
	for _, r := range []ratelimit.Request{
		{Charges: []ratelimit.Charge{c, elsewhere}},
		{Charges: []ratelimit.Charge{{Policy: first, Subject: c.Subject}, {Policy: second, Subject: b.newSubject()}}},
		{Charges: []ratelimit.Charge{c, {Policy: second, Subject: c.Subject}, elsewhere}},
		{Charges: []ratelimit.Charge{c}, Cost: -1},
		{Charges: []ratelimit.Charge{c, twice}},
		{Charges: []ratelimit.Charge{c, foreign}},
		{Charges: []ratelimit.Charge{c, {Subject: "no policy"}}},
		{Charges: []ratelimit.Charge{{Policy: new(ratelimit.Policy)}}},
		{Charges: []ratelimit.Charge{{Policy: tenSeconds(1 << 32)}}},
		{Charges: slices.Repeat([]ratelimit.Charge{c}, ratelimit.MaxCharges+1)},
	} {
		if v, err := b.source.Decide(context.Background(), r); !errors.Is(err, ratelimit.ErrRequest) || v.Admitted {
			b.failDecide(v, err)
		}
	}
	b.wantVerdict(true, c.Policy, c.Subject)
	if v := b.decide(1); !v.Admitted {
		b.Fatal("a request without policies was refused")
	}
}

func testStorage(b *bench) {
	results := make([]ratelimit.Result, 1, 4)
	charges := []ratelimit.Charge{{Policy: tenSeconds(1), Subject: b.newSubject()}}
	v, err := b.source.Decide(context.Background(), ratelimit.Request{Charges: charges, Results: results})
	if err != nil || len(v.Results) != 1 || &v.Results[0] != &results[0] {
		b.failDecide(v, err)
	}
}
