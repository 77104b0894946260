//go:build !race

// What the tests of this file count is done by one goroutine, and -race makes it six times as slow:
// ./xcaddy.sh test runs tests of files like this without -race.

package ratelimit_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// heap is how many bytes are in use after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func perMinute(limit int64) *ratelimit.Policy {
	return &ratelimit.Policy{Name: "p", Limit: limit, Window: time.Minute}
}

// N11: what one key costs, whatever the subject's length and the length of its use.
func TestKeyMemoryIsLimited(t *testing.T) {
	long := strings.Repeat("x", 8<<10)
	for _, c := range []struct {
		name    string
		subject string
		keys    int
		rounds  int // one unit in so many slots
		cost    int64
		most    int64
	}{
		{"one request", "", 200_000, 1, 1, 100},
		{"one request, and a subject of 8 KiB", long, 10_000, 1, 1, 100},
		{"requests in 14 slots", "", 10_000, 14, 1, 100},
		{"requests in all slots", "", 10_000, 61, 1 << 20, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := newClock()
			n := c.keys
			before := heap()
			m, p := memory(t, 0, clock.now), perMinute(1<<30)
			for range c.rounds {
				for i := range n {
					ask(t, m, c.cost, ratelimit.Charge{Policy: p, Subject: fmt.Sprintf("%064d", i) + c.subject})
				}
				clock.at = clock.at.Add(time.Second)
			}
			grown := (heap() - before) / int64(n)
			t.Logf("%d bytes for each of %d keys", grown, n)
			if s := m.Stats(); s.Keys != n || s.Folded != 0 || s.Bytes/int64(n) > c.most {
				t.Fatalf("%+v", s)
			}
			if grown > c.most {
				t.Errorf("%d bytes for each key, want at most %d", grown, c.most)
			}
		})
	}
}

// N11: ten times as many keys as there is room for, some of which need much of it.
func TestMemoryStaysBelowItsSize(t *testing.T) {
	const size, keys = ratelimit.MinSize, 120_000
	clock := newClock()
	before := heap()
	m, p := memory(t, size, clock.now), perMinute(1<<30)
	q := &ratelimit.Policy{Name: "q", Limit: 1 << 30, Window: time.Hour}
	for i := range keys {
		s := ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)}
		ask(t, m, 1<<20, s)
		if i%10 == 0 {
			ask(t, m, 1, s, ratelimit.Charge{Policy: q, Subject: fmt.Sprint(i % 1000)})
		}
		if i%1000 == 0 {
			clock.at = clock.at.Add(20 * time.Millisecond)
		}
	}
	s := m.Stats()
	grown := heap() - before
	t.Logf("%+v, the heap has grown by %d bytes", s, grown)
	if s.Bytes > size || s.Folded < keys/2 {
		t.Errorf("%+v", s)
	}
	if grown > size+size/4 {
		t.Errorf("the heap has grown by %d bytes, want at most %d and some", grown, size)
	}
	runtime.KeepAlive(m)
}

// N11: at twice the number of keys for which there is room, greedy subjects are refused and
// the others are not.
func TestFullTableServesNewSubjectsBesideGreedyOnes(t *testing.T) {
	const room = 25_000 // in 2 MiB, about 21,000
	for _, limit := range []int64{5, 100} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			clock := newClock()
			m, p := memory(t, ratelimit.MinSize, clock.now), perMinute(limit)
			refused, new, over := 0, 0, 0
			for i := range 2 * room {
				if i%100 == 0 { // a greedy one
					admitted := int64(0)
					for range 2 * limit {
						if ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)}).Admitted {
							admitted++
						}
					}
					if admitted > limit {
						over++
					}
				} else if i > room {
					new++
					if !ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)}).Admitted {
						refused++
					}
				} else {
					ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)})
				}
				clock.at = clock.at.Add(time.Millisecond)
			}
			s := m.Stats()
			t.Logf("%d of %d new subjects were refused; %+v", refused, new, s)
			if s.Folded < room/2 || s.Shared == 0 {
				t.Errorf("%+v: not at the cap", s)
			}
			if refused*100 > new {
				t.Errorf("%d of %d new subjects were refused", refused, new)
			}
			if over > 0 {
				t.Errorf("%d greedy subjects exceeded their limit", over)
			}
		})
	}
}

// N11: greedy subjects that were evicted are each in the way of one bucket in thousands.
func TestEvictedGreedySubjectsAffectFewOthers(t *testing.T) {
	clock := newClock()
	m, p := memory(t, 8<<20, clock.now), perMinute(2)
	evicted := uint64(0)
	for i := range 200_000 { // only greedy ones, so that they must go
		ask(t, m, 2, ratelimit.Charge{Policy: p, Subject: fmt.Sprint("greedy", i)})
		if i%100 == 0 {
			if evicted = m.Stats().Folded; evicted >= 2000 {
				break
			}
		}
	}
	if evicted < 2000 {
		t.Fatalf("%d greedy subjects were evicted, then those that came were refused", evicted)
	}
	refused := 0
	for i := range 2000 {
		if !ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint("new", i)}).Admitted {
			refused++
		}
	}
	t.Logf("%d of 2000 new subjects were refused after %d greedy ones were evicted", refused, evicted)
	if refused > 200 {
		t.Errorf("%d of 2000 new subjects were refused", refused)
	}
	for i := range 2000 {
		if ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint("greedy", i)}).Admitted {
			t.Fatalf("greedy subject %d exceeded its limit", i)
		}
	}
}

// Room is taken from the policy that has the most, and from the subjects that are idle.
func TestFloodEvictsIdleSubjectsOfItsOwnPolicy(t *testing.T) {
	clock := newClock()
	m := memory(t, ratelimit.MinSize, clock.now)
	flooded, other := perMinute(1000), &ratelimit.Policy{Name: "other", Limit: 10, Window: time.Minute}
	for i := range 1000 {
		ask(t, m, 1, ratelimit.Charge{Policy: other, Subject: fmt.Sprint(i)})
	}
	for i := range 60_000 {
		ask(t, m, 1, ratelimit.Charge{Policy: flooded, Subject: fmt.Sprint(i)})
		if i%100 == 0 {
			ask(t, m, 1, ratelimit.Charge{Policy: flooded, Subject: "busy"})
		}
	}
	for i := range 1000 {
		if v := ask(t, m, 0, ratelimit.Charge{Policy: other, Subject: fmt.Sprint(i)}); v.Results[0].Shared || v.Results[0].Remaining != 8 {
			t.Fatalf("a subject of another policy was evicted: %+v", v)
		}
	}
	if v := ask(t, m, 1, ratelimit.Charge{Policy: flooded, Subject: "busy"}); v.Results[0].Shared || v.Results[0].Remaining != 399 {
		t.Errorf("a busy subject was evicted: %+v", v)
	}
}

func TestExpiredKeysAreRemovedBeforeEvictions(t *testing.T) {
	clock := newClock()
	m, p := memory(t, ratelimit.MinSize, clock.now), perMinute(5)
	for round := range 5 {
		for i := range 15_000 {
			if v := ask(t, m, 5, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)}); !v.Admitted || v.Results[0].Shared {
				t.Fatalf("round %d: %+v", round, v)
			}
		}
		clock.at = clock.at.Add(2 * time.Minute)
	}
	if s := m.Stats(); s.Folded != 0 {
		t.Errorf("%+v", s)
	}
}

// Another size applies at once, and no counts are lost.
func TestResizeAppliesAtOnceAndKeepsCounts(t *testing.T) {
	m, p := memory(t, 0, newClock().now), perMinute(10)
	const keys = 50_000
	for i := range keys {
		ask(t, m, 9, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)})
	}
	if err := m.Resize(ratelimit.MinSize); err != nil {
		t.Fatal(err)
	}
	if s := m.Stats(); s.Size != ratelimit.MinSize || s.Bytes > s.Size || s.Folded == 0 {
		t.Errorf("after a smaller size: %+v", s)
	}
	if err := m.Resize(64 << 20); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if v := ask(t, m, 2, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)}); v.Admitted {
			t.Fatalf("the counts of %d were lost: %+v", i, v)
		}
	}
	folded := m.Stats().Folded
	for i := range 3 * keys {
		ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint("new", i)})
	}
	if s := m.Stats(); s.Folded != folded || s.Size != 64<<20 {
		t.Errorf("after a larger size: %+v", s)
	}
}

// Row by row 1, 2 and 10 times as many subjects as there is room for, within one window: the
// memory stays below its size, and first requests are not refused for want of room.
func TestFirstRequestsAtAndFarAboveTheCap(t *testing.T) {
	const size = 4 << 20
	const room = size / 112 // a key takes 68 bytes; an eighth remembers who was evicted, and pages are not full
	for _, times := range []int{1, 2, 10} {
		for _, limit := range []int64{1, 5} {
			t.Run(fmt.Sprintf("%d times, limit %d", times, limit), func(t *testing.T) {
				share := 0.001
				if times*int(limit) == 10 { // all who are taken for evicted
					share = 0.1
				}
				clock := newClock()
				before := heap()
				m, p := memory(t, size, clock.now), perMinute(limit)
				refused, over := 0, 0
				for i := range times * room {
					requests := int64(1)
					if i%100 == 0 { // a greedy one
						requests = 2 * limit
					}
					admitted := int64(0)
					for range requests {
						if ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)}).Admitted {
							admitted++
						}
					}
					switch {
					case admitted > limit:
						over++
					case admitted == 0:
						refused++
					}
					clock.at = clock.at.Add(time.Duration(i%2) * time.Minute / time.Duration(times*room))
				}
				s := m.Stats()
				grown := heap() - before
				t.Logf("%d subjects: %d refused at their first request; %+v; the heap has grown by %d bytes", times*room, refused, s, grown)
				if s.Bytes > size || grown > size+size/4 {
					t.Errorf("%d bytes for counts and %d in the heap, over %d", s.Bytes, grown, size)
				}
				if over > 0 {
					t.Errorf("%d greedy subjects exceeded their limit", over)
				}
				if times == 1 && (refused > 0 || s.Folded > 0 || s.Shared > 0) || float64(refused) > share*float64(times*room) {
					t.Errorf("%d of %d subjects were refused at their first request", refused, times*room)
				}
				if times > 1 && (s.Folded < uint64(room)/2 || s.Shared == 0) {
					t.Error("the metrics show nothing")
				}
				runtime.KeepAlive(m)
			})
		}
	}
}
