// Package gcheadroom has Go's garbage collector run less often while little memory is in use.
//
// By default (GOGC=100) a collection begins when the heap has doubled since the last one. A gateway
// uses some 20 MiB, so under load it would collect ten times a second, which is a tenth of its work. Here at
// least a number of bytes, the headroom, is allocated between two collections. As the heap
// grows beyond the headroom, Go's default takes over. The memory limit of the Go runtime keeps its
// precedence.
package gcheadroom

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// Default is the headroom of a gateway whose memory limit is at least 768 MiB.
	Default = 96 << 20
	// Min and Max bound a configured one.
	Min = 1 << 20
	Max = 1 << 40
)

// minHeap is the size at which Go has the first collection begin when GOGC is 100; it grows with GOGC.
const minHeap = 4 << 20

// limitShare is the part of the memory limit that the default may take: one in so many. In a small
// container garbage must leave room for what is in use.
const limitShare = 8

// ForLimit is the default under a memory limit of the Go runtime.
func ForLimit(limit int64) int64 { return min(Default, limit/limitShare) }

// Overridden says that the environment sets GOGC, which then holds alone.
func Overridden() bool { return os.Getenv("GOGC") != "" }

// Begin has the collector keep a headroom, 0 for none, until end is called. The latest one that has
// not ended holds; after the last of them, GOGC is what it was before the first.
func Begin(headroom int64) (end func()) {
	if Overridden() {
		return func() {}
	}
	return process.begin(headroom)
}

// process paces the collector of this process.
var process = pacer{collector: goRuntime{}}

// collector is the garbage collector.
type collector interface {
	// SetPercent sets GOGC and returns what it was.
	SetPercent(percent int) int
	// Scanned is what the last collection found in use: heap, stacks and globals, which GOGC
	// refers to.
	Scanned() int64
	// AfterNext calls f once after the next collection.
	AfterNext(f func())
}

// pacer sets GOGC after each collection.
type pacer struct {
	collector collector

	mu      sync.Mutex
	kept    []*int64 // headrooms that have not ended, in order
	before  int      // GOGC without any
	current int      // GOGC
	watched bool     // after the next collection adjust is called
}

func (p *pacer) begin(headroom int64) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) == 0 {
		p.before = p.collector.SetPercent(100)
		p.current = 100
	}
	mine := &headroom
	p.kept = append(p.kept, mine)
	p.adjust()
	if !p.watched {
		p.watched = true
		p.collector.AfterNext(p.collected)
	}
	return func() { p.end(mine) }
}

func (p *pacer) end(which *int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, one := range p.kept {
		if one == which {
			p.kept = append(p.kept[:i:i], p.kept[i+1:]...)
			p.adjust()
			return
		}
	}
}

// collected is called after a collection.
func (p *pacer) collected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.adjust()
	if p.watched = len(p.kept) > 0; p.watched {
		p.collector.AfterNext(p.collected)
	}
}

// adjust sets GOGC to what should hold. Each change stops all goroutines for a moment, so small
// ones are left out.
func (p *pacer) adjust() {
	want := p.before
	if n := len(p.kept); n > 0 {
		want = percent(p.before, *p.kept[n-1], p.collector.Scanned())
	}
	if want == p.current || want != p.before && math.Abs(float64(want-p.current)) < float64(p.current)/16 {
		return
	}
	p.collector.SetPercent(want)
	p.current = want
}

// percent is the GOGC with which the next collection begins when headroom has been allocated, or
// later if that is what before asks for. Negative means no collection at all.
func percent(before int, headroom, scanned int64) int {
	if before < 0 || headroom <= 0 {
		return before
	}
	return max(before, int(min(math.MaxInt32, float64(headroom)*100/float64(max(scanned, minHeap)))))
}

// goRuntime is the collector of this process.
type goRuntime struct{}

func (goRuntime) SetPercent(percent int) int { return debug.SetGCPercent(percent) }

func (goRuntime) Scanned() int64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(samples)
	var sum uint64
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += s.Value.Uint64()
		}
	}
	return int64(min(sum, math.MaxInt64))
}

// sentinel is an object that nothing refers to. Its pointer keeps it from sharing memory with
// others.
type sentinel struct{ _ *sentinel }

func (goRuntime) AfterNext(f func()) {
	// Setting GOGC may have to wait for a collection, which cleanups should not.
	runtime.AddCleanup(new(sentinel), func(f func()) { go f() }, f)
}
