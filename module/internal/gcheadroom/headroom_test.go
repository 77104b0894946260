package gcheadroom

import (
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
)

const mib = 1 << 20

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		before            int
		headroom, scanned int64
		want              int
	}{
		{100, 128 * mib, 16 * mib, 800},
		{100, 128 * mib, 128 * mib, 100},
		{100, 128 * mib, 1024 * mib, 100}, // a large heap keeps Go's pace
		{400, 128 * mib, 64 * mib, 400},
		{100, 0, 16 * mib, 100},
		{-1, 128 * mib, 16 * mib, -1},
		{100, 128 * mib, 0, 3200}, // before the first collection
	} {
		if got := percent(c.before, c.headroom, c.scanned); got != c.want {
			t.Errorf("percent(%d, %d, %d) is %d, want %d", c.before, c.headroom, c.scanned, got, c.want)
		}
	}
}

func TestDefaultHeadroomIsAPartOfTheMemoryLimit(t *testing.T) {
	for limit, want := range map[int64]int64{math.MaxInt64: Default, 1 << 30: Default, 512 << 20: 64 << 20, 64 << 20: 8 << 20} {
		if got := ForLimit(limit); got != want {
			t.Errorf("under a limit of %d the headroom is %d, want %d", limit, got, want)
		}
	}
}

// fakeCollector collects when the test says so.
type fakeCollector struct {
	percent int
	scanned int64
	sets    int
	after   []func()
}

func (f *fakeCollector) SetPercent(percent int) int {
	old := f.percent
	f.percent = percent
	f.sets++
	return old
}
func (f *fakeCollector) Scanned() int64        { return f.scanned }
func (f *fakeCollector) AfterNext(next func()) { f.after = append(f.after, next) }

func (f *fakeCollector) collect(scanned int64) {
	f.scanned = scanned
	due := f.after
	f.after = nil
	for _, next := range due {
		next()
	}
}

func TestEachCollectionAdjustsGOGC(t *testing.T) {
	f := &fakeCollector{percent: 100, scanned: 10 * mib}
	p := pacer{collector: f}
	end := p.begin(80 * mib)
	if f.percent != 800 {
		t.Errorf("GOGC is %d at first, want 800", f.percent)
	}
	var seen []int
	for _, scanned := range []int64{20 * mib, 40 * mib, 160 * mib, 10 * mib} {
		f.collect(scanned)
		seen = append(seen, f.percent)
	}
	if want := []int{400, 200, 100, 800}; !slices.Equal(seen, want) {
		t.Errorf("after collections GOGC was %v, want %v", seen, want)
	}
	sets := f.sets
	f.collect(10*mib + mib/5)
	if f.sets != sets {
		t.Error("a change of 2 percent stopped all goroutines")
	}
	end()
	if f.percent != 100 {
		t.Errorf("afterwards GOGC is %d, want 100", f.percent)
	}
	f.collect(10 * mib)
	if f.percent != 100 || len(f.after) != 0 {
		t.Errorf("GOGC is %d, and %d wait for the next collection", f.percent, len(f.after))
	}
}

func TestLatestHeadroomConfigApplies(t *testing.T) {
	f := &fakeCollector{percent: 150, scanned: 10 * mib}
	p := pacer{collector: f}
	check := func(when string, want int) {
		t.Helper()
		if f.percent != want {
			t.Errorf("%s, GOGC is %d, want %d", when, f.percent, want)
		}
		if len(f.after) > 1 {
			t.Errorf("%s, %d wait for the next collection, want 1", when, len(f.after))
		}
	}
	first := p.begin(80 * mib)
	check("with one configuration", 800)
	failed := p.begin(40 * mib)
	check("while a second one is loaded", 400)
	failed()
	check("after it has failed", 800)
	second := p.begin(20 * mib)
	first()
	check("after a reload", 200)
	off := p.begin(0)
	second()
	check("after a reload that turns it off", 150)
	off()
	off()
	check("after the last one", 150)
	f.collect(10 * mib)
	again := p.begin(80 * mib)
	check("with a new one", 800)
	again()
	check("after that", 150)
}

func TestGOGCFromTheEnvironmentIsKept(t *testing.T) {
	t.Setenv("GOGC", "70")
	before := gogc()
	end := Begin(1 << 30)
	defer end()
	if now := gogc(); now != before {
		t.Errorf("GOGC went from %d to %d though the environment sets it", before, now)
	}
}

func TestHeadroomSetsThisProcessesGC(t *testing.T) {
	t.Setenv("GOGC", "")
	before := gogc()
	end := Begin(1 << 30)
	if now := gogc(); now <= before {
		t.Errorf("GOGC is %d, before it was %d", now, before)
	}
	waiting := make(chan struct{})
	goRuntime{}.AfterNext(func() { close(waiting) })
	runtime.GC()
	<-waiting
	if n := (goRuntime{}).Scanned(); n <= 0 {
		t.Errorf("%d bytes are in use", n)
	}
	end()
	if now := gogc(); now != before {
		t.Errorf("GOGC is %d afterwards, want %d", now, before)
	}
}

// gogc reads GOGC.
func gogc() int {
	now := debug.SetGCPercent(100)
	debug.SetGCPercent(now)
	return now
}
