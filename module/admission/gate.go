package admission

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Class says which requests are refused first: those of the lowest class.
type Class int

const (
	// Anonymous requests show no credentials.
	Anonymous Class = iota
	// Client requests show credentials that are yet to be checked.
	Client
	// Known requests have a token that was checked before and is in memory.
	Known
	classes // how many there are
)

// Classes are the names of all of them, for metrics.
var Classes = [classes]string{"anonymous", "client", "known"}

// limit is what a class leaves alone: a round is full for the class when it has both
// lasted longer and admitted more than this.
type limit struct {
	work int           // requests for each processor
	wait time.Duration // the oldest runnable goroutine has waited
}

// What a round admits is worked on before the next arrival is looked at, so work bounds
// the waiting time in units of what a request takes, whatever the machine. The wait keeps
// requests that take next to nothing from being counted. Known requests share the work with
// the others and are refused only when the others were not the cause.
var limits = [classes]limit{
	Anonymous: {work: 16, wait: 5 * time.Millisecond},
	Client:    {work: 32, wait: 5 * time.Millisecond},
	Known:     {work: 32, wait: time.Second},
}

const (
	// patience is for how long rounds must be full before requests are refused. A process
	// that stood still for a moment has a crowd before it that is soon answered.
	patience = 100 * time.Millisecond
	// alert is for how long after a refusal one full round suffices.
	alert = 2 * time.Second
	// calm is the time from a round to the next, and busy that from a round that took longer
	// than it. Between rounds everything is admitted.
	calm, busy = 5 * time.Millisecond, time.Millisecond
	// lull is after how many rounds without a request measuring ends, until one comes.
	lull = 20
)

// Gate decides by how long a goroutine waits for a processor. It measures that in rounds: a
// round is over when every goroutine that could run at its beginning has run. Where requests
// come faster than they are answered they wait there and in no handler, because net/http
// has a goroutine for each connection. What waits for a store, a hash or an upstream is not
// runnable, so slow parts behind the gateway do not fill rounds.
//
// A full round admits no more requests. It is over when the admitted work is done, so
// processors are not idle for want of admitted requests. Refused requests are no work:
// however many there are, every round admits some.
type Gate struct {
	now        func() time.Duration // monotonic, greater than 0
	count      func() int           // of processors
	processors atomic.Int64         // as of the last second with a refusal, or the start

	measuring atomic.Bool           // there is a goroutine that does
	began     atomic.Int64          // when the round began, 0 between rounds
	admitted  atomic.Int64          // since then
	full      [classes]atomic.Int64 // since when rounds are full, 0 when the last was not
	refused   atomic.Int64          // when the last refusal was, 0 for never
	pace      pace
}

// New returns a gate for the whole process.
func New() *Gate {
	start := time.Now()
	g := &Gate{now: func() time.Duration { return time.Since(start) + 1 }, count: func() int { return runtime.GOMAXPROCS(0) }}
	g.processors.Store(int64(g.count()))
	return g
}

// measure has one round after the other as long as requests come, and then a little longer.
func (g *Gate) measure() {
	for quiet := 0; quiet < lull; quiet++ {
		if g.begin() > 0 {
			quiet = 0
		}
		runtime.Gosched() // puts this goroutine behind all that are runnable
		pause := calm
		if took := g.end(); took > busy || g.alerted(int64(g.now())) {
			pause = busy
		}
		time.Sleep(pause)
	}
	g.measuring.Store(false)
}

// begin begins a round, and returns how many requests were admitted since the last began.
func (g *Gate) begin() int64 {
	defer g.began.Store(int64(g.now()))
	return g.admitted.Swap(0)
}

// end ends it, and returns how long it took.
func (g *Gate) end() time.Duration {
	took, n := g.now()-time.Duration(g.began.Load()), g.admitted.Load()
	for c, l := range limits {
		if took <= l.wait || n < int64(l.work)*g.processors.Load() {
			g.full[c].Store(0)
		}
	}
	g.began.Store(0)
	return took
}

// Admit reports whether a request is to be worked on, and if not after how many seconds
// the client may come again. It does not wait, and nothing has to be given back.
func (g *Gate) Admit(c Class) (retryAfter int, ok bool) {
	now := int64(g.now())
	if !g.measuring.Load() && g.measuring.CompareAndSwap(false, true) {
		go g.measure()
	}
	began := g.began.Load()
	n, l := g.admitted.Add(1), limits[c]
	if began == 0 || now-began <= int64(l.wait) || n <= int64(l.work)*g.processors.Load() {
		return 0, true
	}
	g.full[c].CompareAndSwap(0, now)
	if now-g.full[c].Load() < int64(patience) && !g.alerted(now) {
		return 0, true
	}
	g.admitted.Add(-1)
	if last := g.refused.Swap(now); now-last > int64(time.Second) {
		g.processors.Store(int64(g.count())) // a container's share may change
	}
	return g.pace.next(now), false
}

func (g *Gate) alerted(now int64) bool {
	last := g.refused.Load()
	return last != 0 && now-last < int64(alert)
}
