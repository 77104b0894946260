package sourcetest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// Windows that are and are not a multiple of 60 ms.
var windows = []time.Duration{time.Second, 1234 * time.Millisecond, 6 * time.Second, 10 * time.Second, time.Minute}

// placed are the places that the policies of a request may have.
var placed = [][]string{{""}, {ratelimit.BySubject}, {ratelimit.BySubject, "common"}}

// resetClock sets the clock, so that a run is the same each time it is repeated. No subject
// of another run is used again.
func (b *bench) resetClock(t *rapid.T) {
	b.setClock(epoch + rapid.Int64Range(0, 120_000).Draw(t, "begin"))
}

func drawPolicy(t *rapid.T, i int) *ratelimit.Policy {
	return &ratelimit.Policy{
		Name:   fmt.Sprint("p", i),
		Limit:  rapid.Int64Range(1, 12).Draw(t, "limit"),
		Window: rapid.SampledFrom(windows).Draw(t, "window"),
		DryRun: i > 0 && rapid.IntRange(0, 3).Draw(t, "dry") == 0,
	}
}

// drawPause is none, any, or one that ends near the edge of a slot or of a window.
func drawPause(t *rapid.T, p *ratelimit.Policy) int64 {
	w := p.Window.Milliseconds()
	q := (w + 59) / 60
	near := rapid.SampledFrom([]int64{0, 0, 0, q, w / 2, w - q, w, w + q}).Draw(t, "near")
	if near == 0 {
		return rapid.Int64Range(0, w/4).Draw(t, "pause")
	}
	return max(0, near+rapid.Int64Range(-2, 2).Draw(t, "off"))
}

func randomArrivals(b *bench) { // L03, L06
	rapid.Check(b.T, func(t *rapid.T) {
		b.resetClock(t)
		models := make([]*model, rapid.IntRange(1, 3).Draw(t, "policies"))
		charges := make([]ratelimit.Charge, len(models))
		places, subject := rapid.SampledFrom(placed).Draw(t, "places"), b.newSubject()
		for i := range models {
			p := drawPolicy(t, i)
			p.Place = rapid.SampledFrom(places).Draw(t, "place")
			models[i], charges[i] = &model{policy: p}, ratelimit.Charge{Policy: p, Subject: subject}
			if p.Place != ratelimit.BySubject {
				charges[i].Subject = b.newSubject()
			}
		}
		var wait int64
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			cost := max(1, rapid.Int64Range(-6, 6).Draw(t, "cost"))
			if step > 0 && rapid.IntRange(0, 4).Draw(t, "wait") == 0 {
				b.setClock(b.nowMillis() + wait)
			} else if step > 0 && rapid.IntRange(0, 1).Draw(t, "move") == 0 {
				b.setClock(b.nowMillis() + drawPause(t, models[0].policy))
			}
			v := b.decide(cost, charges...)
			checkVerdict(t, step, b.nowMillis(), cost, models, v)
			wait = 0
			if r := v.Reported(); !v.Admitted && r.Retry != ratelimit.Never {
				wait = r.Retry.Milliseconds()
				if rapid.Bool().Draw(t, "obey") {
					b.setClock(b.nowMillis() + wait - 1)
					if v := b.decide(cost, charges...); v.Admitted {
						t.Fatalf("step %d: admitted before its time", step)
					}
					b.setClock(b.nowMillis() + 1)
					v := b.decide(cost, charges...)
					if !v.Admitted {
						t.Fatalf("step %d: refused after Retry: %+v", step, v)
					}
					checkVerdict(t, step, b.nowMillis(), cost, models, v)
					wait = 0
				}
			}
		}
	})
}

// checkVerdict holds a verdict against the promises, each read off the log by itself, and
// then against the one answer that the division into slots leaves.
func checkVerdict(t *rapid.T, step int, now, cost int64, models []*model, v ratelimit.Verdict) {
	admitted := true
	for i, m := range models {
		r := v.Results[i]
		w := m.policy.Window.Milliseconds()
		if !r.Violated && m.admittedIn(now, w)+cost > m.policy.Limit {
			t.Fatalf("step %d: policy %d: %d more after %d in the window: over %d", step, i, cost, m.admittedIn(now, w), m.policy.Limit)
		}
		if r.Violated && m.admittedIn(now, w+m.slotLength())+cost <= m.policy.Limit {
			t.Fatalf("step %d: policy %d: violated by %d after %d in the window and a slot", step, i, cost, m.admittedIn(now, w+m.slotLength()))
		}
		admitted = admitted && (!r.Violated || m.policy.DryRun)
	}
	if v.Admitted != admitted {
		t.Fatalf("step %d: admitted = %v: %+v", step, v.Admitted, v.Results)
	}
	for i, m := range models {
		r := v.Results[i]
		if admitted && !r.Violated {
			m.log = append(m.log, unit{now, cost})
		}
		want := m.expectedResult(now, cost, r.Violated)
		if !r.Reset.Equal(want.Reset) {
			t.Fatalf("step %d: policy %d: reset in %v, want %v", step, i, r.Reset.Sub(v.At), want.Reset.Sub(v.At))
		}
		r.Reset = want.Reset
		if r != want {
			t.Fatalf("step %d: policy %d: %+v, want %+v", step, i, r, want)
		}
	}
}

func refusalsLeaveNoTrace(b *bench) { // L06
	rapid.Check(b.T, func(t *rapid.T) {
		b.resetClock(t)
		p := drawPolicy(t, 0)
		full := &ratelimit.Policy{Name: "full", Limit: 1, Window: 24 * time.Hour}
		plain := ratelimit.Charge{Policy: p, Subject: b.newSubject()}
		haunted := ratelimit.Charge{Policy: p, Subject: b.newSubject()}
		gate := ratelimit.Charge{Policy: full, Subject: b.newSubject()}
		places := rapid.SampledFrom(placed).Draw(t, "places")
		p.Place, full.Place = rapid.SampledFrom(places).Draw(t, "place"), rapid.SampledFrom(places).Draw(t, "place of the full one")
		if p.Place == ratelimit.BySubject && full.Place == ratelimit.BySubject {
			gate.Subject = haunted.Subject
		}
		b.wantVerdict(true, full, gate.Subject)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			for range rapid.IntRange(0, 3).Draw(t, "refused") {
				b.setClock(b.nowMillis() + rapid.Int64Range(0, 50).Draw(t, "between"))
				if b.decide(1, haunted, gate).Admitted || b.decide(1, gate, haunted).Admitted || b.decide(p.Limit+1, haunted).Admitted {
					t.Fatal("admitted under a policy that was full")
				}
			}
			b.setClock(b.nowMillis() + drawPause(t, p))
			cost := rapid.Int64Range(1, 3).Draw(t, "cost")
			want, got := b.decide(cost, plain), b.decide(cost, haunted)
			if got.Admitted != want.Admitted || got.Results[0] != want.Results[0] {
				t.Fatalf("after refusals: %+v, without: %+v", got, want)
			}
		}
	})
}
