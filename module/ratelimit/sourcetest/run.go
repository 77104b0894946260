package sourcetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// Opener makes a source whose time is what now says, to the millisecond, and which waits as
// long as a busy machine takes. It is called once for each test, and closes what it opened when the
// test ends; the tests use subjects of their own, so the sources may share their counts.
type Opener func(t *testing.T, now func() time.Time) ratelimit.Source

// Run runs the tests that every source has to pass.
func Run(t *testing.T, open Opener) {
	for _, c := range []struct {
		name string
		run  func(*bench)
	}{
		{"in no window more than the limit passes and every refusal is justified", randomArrivals},
		{"a refused request leaves no trace", refusalsLeaveNoTrace},
		{"a clock that steps back a little lets nothing more through", smallStepsBack},
		{"a clock that steps back a lot begins anew", bigStepBack},
		{"of 1000 requests at once exactly the limit passes", atOnce},
		{"parallel requests under several policies are decided one by one", severalAtOnce},
		{"parallel requests under several policies of one subject are decided one by one", severalOfOneSubjectAtOnce},
		{"both sides of a boundary count together", testWindowBoundary},
		{"a steady stream passes at the rate of the limit", testSteadyRate},
		{"refused requests do not extend the window", refusalsExtendNothing},
		{"a new limit counts what the old one admitted", limitChanged},
		{"under a lowered limit units are available once the excess is gone", limitLowered},
		{"windows of one name count apart", windowChanged},
		{"a cost above the limit never fits", neverFits},
		{"who repeats a request under a large limit gets all of it", testLargeLimit},
		{"a dry run counts what fits and refuses nothing", dryRun},
		{"subjects are counted apart, whatever their length", testIsolation},
		{"like names of two limiters count apart", testLimiters},
		{"a malformed request is an error", testMalformedRequests},
		{"results go where the caller says", testStorage},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{T: t, name: fmt.Sprintf("%d-%d", time.Now().UnixNano(), runs.Add(1))}
			b.at.Store(epoch)
			b.source = open(t, b.now)
			c.run(b)
		})
	}
}

// epoch is where the tests' time begins.
const epoch = 1_900_000_000_123

// runs keeps the subjects of tests apart that run in the same nanosecond.
var runs atomic.Int64

// bench is a source with a clock that the test moves.
type bench struct {
	*testing.T
	name     string
	source   ratelimit.Source
	at       atomic.Int64 // ms since the epoch
	subjects int
}

func (b *bench) now() time.Time               { return time.UnixMilli(b.at.Load()) }
func (b *bench) advanceClock(d time.Duration) { b.at.Add(d.Milliseconds()) }
func (b *bench) setClock(ms int64)            { b.at.Store(ms) }
func (b *bench) nowMillis() int64             { return b.at.Load() }
func (b *bench) failDecide(v any, e error)    { b.Helper(); b.Fatalf("Decide = %+v, %v", v, e) }

// newSubject is one that nobody used before.
func (b *bench) newSubject() string {
	b.subjects++
	return fmt.Sprintf("%s-%d", b.name, b.subjects)
}

func (b *bench) decide(cost int64, charges ...ratelimit.Charge) ratelimit.Verdict {
	b.Helper()
	v, err := b.source.Decide(context.Background(), ratelimit.Request{Charges: charges, Cost: cost})
	if err != nil || len(v.Results) != len(charges) || !v.At.Equal(b.now()) {
		b.failDecide(v, err)
	}
	return v
}

// wantVerdict decides on one unit under one policy.
func (b *bench) wantVerdict(admitted bool, p *ratelimit.Policy, subject string) ratelimit.Result {
	b.Helper()
	v := b.decide(1, ratelimit.Charge{Policy: p, Subject: subject})
	if v.Admitted != admitted {
		b.failDecide(v, nil)
	}
	return v.Results[0]
}
