package redis

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// fault is something that goes wrong between us and Redis, or there.
type fault struct {
	name    string
	server  func(t *testing.T) (url string, begin, heal func())
	outage  bool
	forgets bool // what was counted
}

func onServer(begin, heal func(s *redistest.Server)) func(*testing.T) (string, func(), func()) {
	return func(t *testing.T) (string, func(), func()) {
		s := redistest.Start(t)
		return s.URL(), func() { begin(s) }, func() { heal(s) }
	}
}

func onTheWay(begin func(p *redistest.Proxy)) func(*testing.T) (string, func(), func()) {
	return func(t *testing.T) (string, func(), func()) {
		p := redistest.NewProxy(t, redistest.Shared(t).Addr)
		return p.URL(), func() { begin(p) }, p.Heal
	}
}

func says(words ...string) func(*redistest.Server) {
	return func(s *redistest.Server) { s.CLI(words...) }
}

var faults = []fault{ // L12, E04
	{"stopped", onServer((*redistest.Server).Stop, (*redistest.Server).Restart), true, true},
	{"frozen", onServer((*redistest.Server).Freeze, (*redistest.Server).Thaw), true, false},
	{"blackholed", onTheWay((*redistest.Proxy).Blackhole), true, false},
	{"35 ms away", onTheWay(func(p *redistest.Proxy) { p.Latency(35 * time.Millisecond) }), true, false}, // too late for requests, not for connections
	{"50 ms away", onTheWay(func(p *redistest.Proxy) { p.Latency(50 * time.Millisecond) }), true, false},
	{"500 ms away", onTheWay(func(p *redistest.Proxy) { p.Latency(500 * time.Millisecond) }), true, false},
	{"reset", onTheWay((*redistest.Proxy).Reset), true, false},
	{"a replica", onServer(says("REPLICAOF", "127.0.0.1", "1"), says("REPLICAOF", "NO", "ONE")), true, false},
	{"full", onServer(says("CONFIG", "SET", "maxmemory", "1"), says("CONFIG", "SET", "maxmemory", "0")), true, false},
	{"without its scripts", onServer(says("SCRIPT", "FLUSH"), func(*redistest.Server) {}), false, false},
}

// One after the other: what they measure is time.
func TestRedisFaultCostsRequestsLittle(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			url, begin, heal := f.server(t)
			s := open(t, config{settings: settings(t, url, t.Name()+":", 0), nodes: 3, denials: maxDenials})
			suffer(t, s, f, begin, heal)
		})
	}
}

func TestFaultLeavesNoGoroutine(t *testing.T) {
	p := redistest.NewProxy(t, redistest.Shared(t).Addr)
	s := open(t, config{settings: settings(t, p.URL(), "left:", 0), nodes: 3})
	l := newTraffic(t, s, false)
	l.settled(10 * time.Second)
	// Two batches, a health check, the report, and what the client does behind them.
	const most = 8
	for _, begin := range []func(){p.Blackhole, p.Reset} {
		begin()
		for range 7 {
			time.Sleep(100 * time.Millisecond)
			if n := ours(); n > most {
				t.Errorf("%d goroutines in an outage", n)
			}
		}
		p.Heal()
		l.settled(2 * time.Second)
	}
	l.end()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(2 * time.Second); ours() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines outlive the source", ours())
		}
	}
}

func TestCloseDuringAnOutageStopsEverything(t *testing.T) {
	for name, begin := range map[string]func(*redistest.Proxy){"probing": (*redistest.Proxy).Reset, "with batches on their way": (*redistest.Proxy).Blackhole} {
		p := redistest.NewProxy(t, redistest.Shared(t).Addr)
		s := open(t, config{settings: settings(t, p.URL(), "close:", 0), nodes: 3})
		c := one("p", 1<<30, time.Hour, "s")
		ask := func() bool {
			v, err := s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{c}})
			return err == nil && !v.Outage
		}
		eventually(t, "it is served", ask)
		begin(p)
		if name == "probing" {
			eventually(t, "the breaker opens", func() bool { ask(); return s.pipeline(place{limiter: "l"}).opened.Load() })
		} else {
			l := s.pipeline(place{limiter: "l"})
			l.mu.Lock()
			l.lastAnswer = time.Time{} // so that the caller does not send its own batch
			l.mu.Unlock()
			ask()
		}
		begun := time.Now()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if d := time.Since(begun); d > time.Second {
			t.Errorf("%s: Close took %v", name, d)
		}
		stacks := make([]byte, 4<<20)
		if text := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(text, "redis.(*pipeline)") || strings.Contains(text, "redis.(*Source).reportNodes") {
			t.Errorf("%s: a goroutine outlives Close", name)
		}
	}
}

// ours counts the goroutines of the source and the client library in this process, without
// those of callers that wait in Decide.
func ours() (n int) {
	stacks := make([]byte, 4<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, "redis.(*Source).Decide(") {
			continue
		}
		if strings.Contains(stack, "redis.(*pipeline)") || strings.Contains(stack, "redis.(*Source).reportNodes") || strings.Contains(stack, "github.com/redis/") {
			n++
		}
	}
	return n
}

func TestSentinelFailoverEndsAnOutage(t *testing.T) {
	sentinels := redistest.StartSentinel(t)
	testSource(t, sentinels.URL())
	s := open(t, config{settings: settings(t, sentinels.URL(), "failover:", 0), nodes: 3, denials: maxDenials})
	var killed *redistest.Server
	suffer(t, s, fault{outage: true}, func() { killed = sentinels.KillPrimary() }, func() { sentinels.WaitPromoted(killed) })
}

// suffer holds a source under load to what is promised for a fault.
func suffer(t *testing.T, s *Source, f fault, begin, heal func()) {
	l := newTraffic(t, s, f.forgets)
	l.settled(10 * time.Second)
	began := time.Now()
	begin()
	hit := time.Now()
	time.Sleep(time.Until(hit.Add(soak(1400*time.Millisecond, 60*time.Second))))
	if f.outage && s.Health() == nil {
		t.Error("Health has nothing to say in an outage")
	}
	heal()
	healed := time.Now()
	l.settled(2 * time.Second)
	back := time.Since(healed)
	l.exact()
	l.end()
	noise := 3 * l.noise.worst(began, healed) // many wake at once
	opening, open := l.latency.worst(began, hit.Add(time.Second)), l.latency.worst(hit.Add(time.Second), healed)
	t.Logf("p99 at first %v, then %v (a timer is late by %v); exact after %v; %d requests, %d in the outage", opening, open, noise, back, l.count.Load(), l.outages.Load())
	if opening > 25*time.Millisecond+noise {
		t.Errorf("p99 of the first second is %v", opening)
	}
	if f.outage && open > time.Millisecond+noise {
		t.Errorf("p99 after the first second is %v", open)
	}
	if f.outage && l.outages.Load() == 0 {
		t.Error("there was no outage")
	}
}

// traffic is many requests at once, each subject's with a cost of its own.
type traffic struct {
	t              *testing.T
	source         *Source
	forgetful      bool
	latency, noise samples
	count, outages atomic.Int64
	recent         atomic.Int64 // the last outage, ns since begin
	start          time.Time
	stop           chan struct{}
	running        sync.WaitGroup
}

const (
	workers = 24
	beat    = 12 * time.Millisecond // of each, so they are 2,000 requests a second
)

func newTraffic(t *testing.T, s *Source, forgetful bool) *traffic {
	l := &traffic{t: t, source: s, forgetful: forgetful, start: time.Now(), stop: make(chan struct{})}
	for i := range workers {
		l.running.Go(func() { l.work(i) })
	}
	l.running.Go(func() {
		for {
			at := time.Now()
			select {
			case <-l.stop:
				return
			case <-time.After(time.Millisecond):
				l.noise.add(at, time.Since(at)-time.Millisecond)
			}
		}
	})
	t.Cleanup(l.end)
	return l
}

func (l *traffic) end() {
	select {
	case <-l.stop:
	default:
		close(l.stop)
		l.running.Wait()
	}
}

func (l *traffic) work(i int) {
	cost := int64(1009 + 2*i) // what counts is a multiple of it, unless replies are crossed
	p := &ratelimit.Policy{Limiter: "l", Name: "p", Limit: 1<<32 - 1, Window: time.Hour}
	charges := []ratelimit.Charge{{Policy: p, Subject: fmt.Sprint(l.start.UnixNano(), i)}}
	policy := []ratelimit.Outage{ratelimit.OutageLocal, ratelimit.OutageOpen, ratelimit.OutageClosed}[i%3]
	tick := time.NewTicker(beat)
	defer tick.Stop()
	var counted, asked int64
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		at := time.Now()
		v, err := l.source.Decide(context.Background(), ratelimit.Request{Charges: charges, Cost: cost, OnOutage: policy})
		l.latency.add(at, time.Since(at))
		l.count.Add(1)
		asked += cost
		switch {
		case err != nil && (policy != ratelimit.OutageClosed || !errors.Is(err, ratelimit.ErrUnavailable)):
			l.t.Error(err)
		case err != nil || v.Outage:
			l.outages.Add(1)
			l.recent.Store(int64(time.Since(l.start)))
			if err == nil && policy == ratelimit.OutageOpen && !v.Admitted {
				l.t.Error("refused though the limit is open in an outage")
			}
		default:
			total := p.Limit - v.Results[0].Remaining
			if l.forgetful && total < counted {
				counted = 0
			}
			if !v.Admitted || total%cost != 0 || total < counted+cost || total > asked {
				l.t.Errorf("%d count of %d asked for, %d before, at a cost of %d: the reply is another's", total, asked, counted, cost)
			}
			counted = total
		}
	}
}

// settled waits until no request has met an outage for a little.
func (l *traffic) settled(within time.Duration) {
	l.t.Helper()
	const quiet = 200 * time.Millisecond
	begin := time.Now()
	for {
		time.Sleep(5 * time.Millisecond)
		last := l.start.Add(time.Duration(l.recent.Load()))
		if last.Before(begin) {
			last = begin
		}
		if last.Sub(begin) > within {
			l.t.Fatalf("an outage %v on", last.Sub(begin))
		}
		if time.Since(last) > quiet && l.count.Load() > 0 {
			return
		}
	}
}

// exact asks at a limit. A machine that is busy may make an outage of a single request: then
// what it was charged is not known, and another subject is asked about.
func (l *traffic) exact() {
	l.t.Helper()
	p := &ratelimit.Policy{Limiter: "l", Name: "exact", Limit: 5, Window: time.Hour}
	for try := range 20 {
		passed, out := 0, 0
		for range 10 {
			v, err := l.source.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{{Policy: p, Subject: fmt.Sprint(l.t.Name(), try)}}})
			switch {
			case err != nil:
				l.t.Fatal(err)
			case v.Outage:
				out++
			case v.Admitted:
				passed++
			}
		}
		if out > 0 {
			continue
		}
		if passed != 5 {
			l.t.Errorf("%d passed, want 5", passed)
		}
		return
	}
	l.t.Error("there is always an outage")
}

// samples are durations with the time at which each began.
type samples struct {
	mu  sync.Mutex
	all []sample
}

type sample struct {
	at   time.Time
	took time.Duration
}

func (s *samples) add(at time.Time, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, sample{at, took})
}

// worst is the 99th percentile of those in between.
func (s *samples) worst(from, to time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var took []time.Duration
	for _, x := range s.all {
		if !x.at.Before(from) && x.at.Before(to) {
			took = append(took, x.took)
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
