package lockout

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type clock struct{ at time.Time }

func newClock() *clock                { return &clock{at: time.Unix(1_900_000_000, 0)} }
func (c *clock) now() time.Time       { return c.at }
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

// held is the number of keys in a book.
func held(b *Book) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.kinds {
		s.mu.Lock()
		n += len(s.entries)
		s.mu.Unlock()
	}
	return n
}

func wantTake(t *testing.T, b *Book, key string, r Rule, ok bool, retry time.Duration) {
	t.Helper()
	if gotOK, gotRetry := b.Take(key, r); gotOK != ok || gotRetry != retry {
		t.Fatalf("Take(%.20q) = %v, %v; want %v, %v", key, gotOK, gotRetry, ok, retry)
	}
}

func TestLimitedKeyIsRefusedUntilTheWindowSlides(t *testing.T) {
	c := newClock()
	b := NewBook(10, c.now)
	r := Rule{Limit: 2, Window: time.Minute}
	wantTake(t, b, "a", r, true, 0)
	c.pass(20 * time.Second)
	wantTake(t, b, "a", r, true, 0)
	c.pass(10 * time.Second)
	wantTake(t, b, "a", r, false, 30*time.Second)
	wantTake(t, b, "b", r, true, 0)
	c.pass(30 * time.Second)
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, false, 20*time.Second)
}

func TestLockoutExpiresAndCountingRestarts(t *testing.T) {
	c := newClock()
	b := NewBook(10, c.now)
	r := Rule{Limit: 2, Window: time.Minute, Lock: 15 * time.Minute}
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, true, 0)
	c.pass(10 * time.Minute)
	wantTake(t, b, "a", r, false, 5*time.Minute) // asking prolongs nothing
	c.pass(5*time.Minute - 1)
	wantTake(t, b, "a", r, false, 1)
	c.pass(1)
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, false, 15*time.Minute)
}

func TestShortLockoutResetsTheWindow(t *testing.T) {
	c := newClock()
	b := NewBook(10, c.now)
	r := Rule{Limit: 2, Window: time.Hour, Lock: time.Minute}
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, true, 0)
	c.pass(time.Minute)
	b.Return("a") // too late: nothing of it is left
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, false, time.Minute)
}

func TestSuccessRevertsTheLockoutItCaused(t *testing.T) {
	c := newClock()
	b := NewBook(10, c.now)
	r := Rule{Limit: 2, Window: time.Minute, Lock: time.Hour}
	for range 50 {
		wantTake(t, b, "a", r, true, 0)
		b.Return("a")
	}
	if held(b) != 0 {
		t.Fatalf("%d keys are held though all attempts succeeded", held(b))
	}
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, false, time.Hour)
	b.Return("a")
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, false, time.Hour)
	b.Return("never seen")
}

func TestParallelAttemptsPassExactlyTheLimit(t *testing.T) {
	b := NewBook(10, time.Now)
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 500 {
		all.Go(func() {
			if ok, _ := b.Take("a", Rule{Limit: 10, Window: time.Hour, Lock: time.Hour}); ok {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if passed.Load() != 10 {
		t.Fatalf("%d passed, want 10", passed.Load())
	}
}

func TestRuleWithoutAttemptsRefusesAndStoresNothing(t *testing.T) {
	b := NewBook(10, newClock().now)
	wantTake(t, b, "a", Rule{Window: time.Minute, Lock: time.Hour}, false, time.Hour)
	if held(b) != 0 {
		t.Fatal("a key is held")
	}
}

func TestLoweredLimitAppliesAtOnce(t *testing.T) {
	c := newClock()
	b := NewBook(10, c.now)
	for range 5 {
		wantTake(t, b, "a", Rule{Limit: 9, Window: time.Minute}, true, 0)
		c.pass(time.Second)
	}
	wantTake(t, b, "a", Rule{Limit: 2, Window: time.Minute}, false, 58*time.Second)
}

func TestLongKeysAreHashedAndDistinct(t *testing.T) {
	b := NewBook(10, newClock().now)
	r := Rule{Limit: 1, Window: time.Minute}
	long := strings.Repeat("k", 1<<20)
	wantTake(t, b, long, r, true, 0)
	wantTake(t, b, long, r, false, time.Minute)
	wantTake(t, b, long+"x", r, true, 0)
	for key := range b.kinds[""].entries {
		if len(key) > 80 {
			t.Fatalf("a key of %d bytes is held", len(key))
		}
	}
}

func TestFullBookEvictsExpiredThenLeastRecentlyUsed(t *testing.T) {
	c := newClock()
	b := NewBook(3, c.now)
	short, long := Rule{Limit: 2, Window: time.Second}, Rule{Limit: 2, Window: time.Hour}
	wantTake(t, b, "old", long, true, 0)
	wantTake(t, b, "brief", short, true, 0)
	wantTake(t, b, "mid", long, true, 0)
	c.pass(2 * time.Second)
	wantTake(t, b, "new", long, true, 0) // in the place of "brief"
	wantTake(t, b, "old", long, true, 0) // still counted: this was its second
	wantTake(t, b, "old", long, false, time.Hour-2*time.Second)
	wantTake(t, b, "newer", long, true, 0) // in the place of "mid"
	if _, there := b.kinds[""].entries["mid"]; there || held(b) != 3 {
		t.Fatalf("held: %v", b.kinds[""].entries)
	}
	wantTake(t, b, "new", long, true, 0)
	wantTake(t, b, "new", long, false, time.Hour)
}

func TestLockoutSurvivesAFullTable(t *testing.T) {
	b := NewBook(100, newClock().now)
	lock := Rule{Limit: 3, Window: time.Minute, Lock: time.Hour}
	slide := Rule{Limit: 3, Window: 2 * time.Hour}
	for range 3 {
		wantTake(t, b, "addr:victim", lock, true, 0)
		wantTake(t, b, "addr:slider", slide, true, 0)
	}
	for i := range 10_000 {
		b.Take(fmt.Sprint("addr:2001:db8:", i, "::/64"), lock)
	}
	if held(b) != 100 {
		t.Fatalf("%d keys are held, want 100", held(b))
	}
	wantTake(t, b, "addr:victim", lock, false, time.Hour)
	wantTake(t, b, "addr:slider", slide, false, 2*time.Hour)
}

// Whoever locks as many keys as there is room for, or many times as many, locks nobody else.
func TestFullBookLocksNobodyElse(t *testing.T) {
	const most = 50
	r := Rule{Limit: 2, Window: time.Minute, Lock: time.Hour}
	for _, times := range []int{1, 2, 10} {
		c := newClock()
		b := NewBook(most, c.now)
		for i := range times * most {
			key := fmt.Sprint("addr:", i)
			wantTake(t, b, key, r, true, 0)
			wantTake(t, b, key, r, true, 0)
			wantTake(t, b, key, r, false, time.Hour)
			c.pass(time.Second)
		}
		for i := range most {
			key := fmt.Sprint("addr:innocent ", i)
			if refused, _ := b.Refused(key, r); refused {
				t.Fatalf("%d x: %s is refused", times, key)
			}
			wantTake(t, b, key, r, true, 0)
			b.Return(key)
		}
		if n := held(b); n > most {
			t.Errorf("%d x: %d keys are held, at most %d may be", times, n, most)
		}
		// One place was enough for them, one after the other.
		wantTake(t, b, fmt.Sprint("addr:", times*most-1), r, false, time.Hour-time.Second)
		wantTake(t, b, fmt.Sprint("addr:", times*most-most+1), r, false, time.Hour-(most-1)*time.Second)
	}
}

func TestFullBookOfLocksEvictsTheOneEndingFirst(t *testing.T) {
	c := newClock()
	b := NewBook(3, c.now)
	for _, k := range []struct {
		key  string
		lock time.Duration
	}{{"long", 3 * time.Hour}, {"short", time.Hour}, {"mid", 2 * time.Hour}} {
		wantTake(t, b, k.key, Rule{Limit: 1, Window: time.Minute, Lock: k.lock}, true, 0)
	}
	wantTake(t, b, "new", Rule{Limit: 2, Window: time.Minute}, true, 0)
	for key, there := range map[string]bool{"long": true, "short": false, "mid": true, "new": true} {
		if _, held := b.kinds[""].entries[key]; held != there {
			t.Errorf("%s is held: %t", key, held)
		}
	}
	wantTake(t, b, "newer", Rule{Limit: 2, Window: time.Minute}, true, 0) // in the place of "new", which is not refused
	if _, held := b.kinds[""].entries["new"]; held || len(b.kinds[""].entries) != 3 {
		t.Errorf("held: %v", b.kinds[""].entries)
	}
}

func TestExpiredRefusalMayBeEvicted(t *testing.T) {
	c := newClock()
	b := NewBook(2, c.now)
	r := Rule{Limit: 2, Window: time.Minute}
	wantTake(t, b, "a", r, true, 0)
	c.pass(30 * time.Second)
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "b", r, true, 0)
	wantTake(t, b, "c", r, true, 0) // in the place of "b": "a" is refused
	wantTake(t, b, "a", r, false, 30*time.Second)
	c.pass(30 * time.Second)
	wantTake(t, b, "d", r, true, 0)
	wantTake(t, b, "e", r, true, 0)
	if _, there := b.kinds[""].entries["a"]; there || held(b) != 2 { // it was refused no longer
		t.Fatalf("held: %v", b.kinds[""].entries)
	}
}

func TestUseShrinksTheBook(t *testing.T) {
	c := newClock()
	b := NewBook(1_000, c.now)
	r := Rule{Limit: 2, Window: time.Minute}
	for i := range 1_000 {
		wantTake(t, b, fmt.Sprint(i), r, true, 0)
	}
	c.pass(time.Hour)
	for range 500 {
		b.Take("one", r)
		c.pass(time.Hour)
	}
	if held(b) > 1 || len(b.kinds[""].open)+len(b.kinds[""].refused) > 1 || b.kinds[""].recent.Len() > 1 {
		t.Fatalf("%d keys are still held", held(b))
	}
}

func TestNoWindowExceedsTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		b := NewBook(4, c.now)
		r := Rule{Limit: rapid.IntRange(1, 5).Draw(t, "limit"), Window: 10 * time.Second}
		var passed []time.Time
		for i := range 100 {
			c.pass(time.Duration(rapid.IntRange(0, 4_000).Draw(t, "pause")) * time.Millisecond)
			ok, retry := b.Take("a", r)
			within := len(passed) - slices.IndexFunc(append(passed, c.at), func(at time.Time) bool {
				return c.at.Sub(at) < r.Window
			})
			if want := within < r.Limit; ok != want {
				t.Fatalf("step %d: ok = %v with %d of %d in the window", i, ok, within, r.Limit)
			}
			if ok {
				passed = append(passed, c.at)
			} else if want := r.Window - c.at.Sub(passed[len(passed)-r.Limit]); retry != want {
				t.Fatalf("step %d: retry = %v, want %v", i, retry, want)
			}
			b.Take(fmt.Sprint("other", i), Rule{Limit: 9, Window: time.Millisecond})
		}
	})
}

func TestEachRefusalIsReportedOnce(t *testing.T) {
	c := newClock()
	b := NewBook(10, c.now)
	r := Rule{Limit: 2, Window: time.Minute, Lock: time.Minute}
	told := func(want bool) {
		t.Helper()
		if got := b.NewlyRefused("a"); got != want {
			t.Fatalf("told %v, want %v", got, want)
		}
	}
	for range 2 { // the second lock is told of again
		told(false)
		wantTake(t, b, "a", r, true, 0)
		told(false)
		wantTake(t, b, "a", r, true, 0)
		var n atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if b.NewlyRefused("a") {
					n.Add(1)
				}
			})
		}
		all.Wait()
		if n.Load() != 1 {
			t.Fatalf("%d were told", n.Load())
		}
		wantTake(t, b, "a", r, false, time.Minute)
		told(false)
		c.pass(time.Minute)
		told(false)
	}
	// A lock that the last attempt's success took back was none.
	wantTake(t, b, "a", r, true, 0)
	wantTake(t, b, "a", r, true, 0)
	b.Return("a")
	told(false)
	wantTake(t, b, "a", r, true, 0)
	told(true)
}
