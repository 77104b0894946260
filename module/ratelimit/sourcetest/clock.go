package sourcetest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func smallStepsBack(b *bench) {
	rapid.Check(b.T, func(t *rapid.T) {
		b.resetClock(t)
		p := drawPolicy(t, 0)
		w := p.Window.Milliseconds()
		charge := ratelimit.Charge{Policy: p, Subject: b.newSubject()}
		real := model{policy: p} // in the time that really passed
		var passed int64
		latest := b.nowMillis()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			pause := drawPause(t, p)
			passed += pause
			back := int64(0)
			if rapid.IntRange(0, 5).Draw(t, "step back") == 0 {
				back = rapid.Int64Range(0, w-1).Draw(t, "by")
			}
			// Never a window or more behind the latest time the source has seen.
			b.setClock(max(b.nowMillis()+pause-back, latest-w+1))
			latest = max(latest, b.nowMillis())
			if b.decide(1, charge).Admitted {
				real.log = append(real.log, unit{passed, 1})
				if n := real.admittedIn(passed, w); n > p.Limit {
					t.Fatalf("%d in a window, over %d", n, p.Limit)
				}
			}
		}
	})
}

func bigStepBack(b *bench) {
	p := &ratelimit.Policy{Name: "p", Limit: 2, Window: time.Minute}
	s := b.newSubject()
	b.wantVerdict(true, p, s)
	b.wantVerdict(true, p, s)
	b.advanceClock(-30 * time.Second)
	if r := b.wantVerdict(false, p, s); r.Retry < 90*time.Second || r.Retry > 91*time.Second {
		b.Fatalf("Retry = %v after half a window back", r.Retry)
	}
	b.advanceClock(-31500 * time.Millisecond)
	b.advanceClock(-time.Second)
	b.wantVerdict(true, p, s)
	b.wantVerdict(true, p, s)
	if r := b.wantVerdict(false, p, s); r.Retry > 61*time.Second {
		b.Fatalf("Retry = %v after a reset", r.Retry)
	}
	b.advanceClock(time.Hour)
	b.wantVerdict(true, p, s)
}
