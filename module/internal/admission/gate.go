package admission

import (
	"context"
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

// limit is what a class may ask of the processors.
type limit struct {
	work int           // requests admitted in a round, for each processor
	wait time.Duration // in the queue, at most
}

// The requests of a round are worked on before the next round begins, so work bounds the waiting
// time in multiples of what a request takes, whatever the machine. Known requests share the
// work with the others and are refused only if the others are not the cause.
var limits = [classes]limit{
	Anonymous: {work: 4, wait: 2 * time.Millisecond},
	Client:    {work: 12, wait: 4 * time.Millisecond},
	Known:     {work: 32, wait: time.Second},
}

const (
	// A round is long if it takes more than long and admits more than crowd requests for each
	// processor: then requests come faster than they are answered.
	long, crowd = 5 * time.Millisecond, 32
	// patience is for how long rounds must be long before the gate limits them. After a short
	// stall, a process has many requests waiting that it soon answers.
	patience = 100 * time.Millisecond
	// alert is for how long it limits them after a request had to wait.
	alert = 2 * time.Second
	// calm is the time from a round to the next while the gate does not limit them, and
	// busy the longest while it does.
	calm, busy = 5 * time.Millisecond, time.Millisecond
	// lull is the number of rounds without a request after which measuring pauses.
	lull = 20
)

// gate decides by how long a goroutine waits for a processor, which it measures in rounds: a round is over when every
// goroutine that was runnable at its beginning has run. When requests come faster than they are answered, they wait
// there and not in a handler, because net/http has a goroutine for each connection. Goroutines that wait for a store,
// a hash or an upstream are not runnable, so slow parts behind the gateway do not make rounds long. While the gate
// limits rounds, it has the network polled in each: a busy runtime would do so too rarely.
//
// When rounds stay long, the gate limits how many requests each admits. Further requests wait in a queue for the next
// rounds, so that the processors are never idle while there is work. A request that would wait longer than its class
// may is refused at once. Refused requests cost next to nothing: however many there are, every round admits some.
type gate struct {
	now        func() time.Duration // monotonic, greater than 0
	count      func() int           // of processors
	processors atomic.Int64         // as of the last second with a refusal, or the start

	measuring atomic.Bool   // a goroutine measures
	wake      chan struct{} // begins the next round at once
	began     atomic.Int64  // when the round began, 0 between rounds
	admitted  atomic.Int64  // since then, or since the round before while the gate limits rounds
	known     atomic.Int64  // of those, the Known
	long      atomic.Int64  // since when rounds are long, 0 when the last was not
	limited   atomic.Int64  // when a request last had to wait, 0 for never
	refused   atomic.Int64  // when the last refusal was, 0 for never
	queue     queue
	pace      pace
}

func processGate() *gate {
	start := time.Now()
	return newGate(func() time.Duration { return time.Since(start) + 1 }, func() int { return runtime.GOMAXPROCS(0) })
}

func newGate(now func() time.Duration, processors func() int) *gate {
	g := &gate{now: now, count: processors, wake: make(chan struct{}, 1)}
	g.processors.Store(int64(processors()))
	return g
}

// startMeasuring begins to measure, unless a goroutine does so already.
func (g *gate) startMeasuring() {
	if !g.measuring.Load() && g.measuring.CompareAndSwap(false, true) {
		go g.measureRounds()
	}
}

// measureRounds runs rounds while requests come, and a little longer.
func (g *gate) measureRounds() {
	for {
		g.runRounds()
		g.measuring.Store(false)
		// A request may have joined the queue before measuring was false.
		if g.queue.length() == 0 || !g.measuring.CompareAndSwap(false, true) {
			return
		}
	}
}

func (g *gate) runRounds() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var network poller
	defer network.closePoller()
	for quiet := 0; quiet < lull; quiet++ {
		if g.beginRound() > 0 {
			quiet = 0
		}
		runtime.Gosched() // puts this goroutine behind all that are runnable
		pause := calm
		if g.isLimiting(int64(g.now())) {
			pause = busy
			network.openPoller()
			network.waitForEvents()
		}
		if g.endRound() > 0 {
			quiet = 0
		}
		timer.Reset(pause)
		select {
		case <-g.wake:
		case <-timer.C:
		}
	}
}

// beginRound begins a round with the requests that wait, and returns how many were admitted since the last one ended.
func (g *gate) beginRound() int64 {
	now := int64(g.now())
	g.began.Store(now)
	if !g.isLimiting(now) {
		defer g.queue.admitOldest(g.queue.length()) // only those that came just now
		g.known.Store(0)
		return g.admitted.Swap(0)
	}
	n, p := g.admitted.Load(), g.processors.Load()
	// Known requests are not limited, and might fill every round. A part is reserved for the queue.
	room := max(int64(limits[Client].work)*p-n, min(g.known.Load(), int64(limits[Anonymous].work)*p))
	g.admitted.Add(int64(g.queue.admitOldest(int(room))))
	return n
}

// endRound ends it, and returns how many it admitted.
func (g *gate) endRound() int64 {
	took, n, p := g.roundAge(int64(g.now())), g.admitted.Swap(0), g.processors.Load()
	g.known.Store(0)
	g.began.Store(0)
	if took <= long || n < crowd*p {
		g.long.Store(0)
	}
	if n >= int64(limits[Client].work)*p {
		g.queue.recordRound(took)
	}
	if g.queue.length() > 0 {
		g.skipPause()
	}
	return n
}

// roundAge is how long the present round has lasted, 0 between rounds.
func (g *gate) roundAge(now int64) time.Duration {
	if began := g.began.Load(); began != 0 {
		return time.Duration(now - began)
	}
	return 0
}

// queueJoined is called when a request has joined the queue.
func (g *gate) queueJoined() {
	g.skipPause()
	g.startMeasuring()
}

// skipPause has the next round begin without a pause.
func (g *gate) skipPause() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// admit reports whether a request may be worked on at once. If not, it may [gate.wait].
func (g *gate) admit(c Class) bool {
	now := int64(g.now())
	g.startMeasuring()
	n, p := g.admitted.Add(1), g.processors.Load()
	age := g.roundAge(now)
	if c == Known {
		if age > limits[Known].wait && n > int64(limits[Known].work)*p {
			return g.uncountAdmitted()
		}
		g.known.Add(1)
		return true
	}
	if age > long && n > crowd*p {
		g.long.CompareAndSwap(0, now)
	}
	return !g.isLimiting(now) || n <= int64(limits[c].work)*p && g.queue.length() == 0 || g.uncountAdmitted()
}

// uncountAdmitted takes a request back out of the count of those admitted.
func (g *gate) uncountAdmitted() bool {
	g.admitted.Add(-1)
	return false
}

// isLimiting reports whether the gate limits what a round admits.
func (g *gate) isLimiting(now int64) bool {
	last, since := g.limited.Load(), g.long.Load()
	return last != 0 && now-last < int64(alert) || since != 0 && now-since >= int64(patience)
}

// wait waits until a request is admitted that was not admitted at once, unless that would take longer than its class
// may wait or the context ends: then it returns false and after how many seconds the client may come again.
func (g *gate) wait(ctx context.Context, c Class) (retryAfter int, ok bool) {
	now := g.now()
	g.limited.Store(int64(now))
	if c != Known && g.queue.waitForAdmission(ctx, limits[c].work*int(g.processors.Load()), limits[c].wait, g.roundAge(int64(now)), g.queueJoined) {
		return 0, true
	}
	if last := g.refused.Swap(int64(now)); int64(now)-last > int64(time.Second) {
		g.processors.Store(int64(g.count())) // a container's share may change
	}
	return g.pace.nextRetryAfter(int64(now)), false
}
