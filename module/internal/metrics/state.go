package metrics

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	storeUp       = gaugeDesc("store_up", "Whether the store answered the last probe: 1 or 0.")
	limiterUp     = gaugeDesc("limiter_up", "Whether the limiter reaches its counts: 1 or 0.")
	limiterKeys   = gaugeDesc("limiter_memory_keys", "Callers with counts of their own in this process, for each policy.")
	limiterBytes  = gaugeDesc("limiter_memory_bytes", "Memory that the counts of requests in this process take.")
	limiterSize   = gaugeDesc("limiter_memory_size_bytes", "Memory that they may take, the size of the limiter.")
	limiterFolded = gaugeDesc("limiter_memory_folded_total", "Callers whose counts went into a shared bucket, since the memory was full.")
	polls         = gaugeDesc("polls_waiting", "Polls that hang until somebody confirms on a second device.")
	unfinished    = gaugeDesc("rest_jobs_unfinished", "Jobs that wait or run on all nodes, by the name of their queue, as this node last saw.", "queue")
	staleness     = gaugeDesc("revocation_staleness_seconds", "How long ago what this process knows of revocations was complete: 0 while the feed runs, +Inf before it was complete once.")
)

// State is what the running gateway knows about the parts it depends on.
type State struct {
	StoreUp   bool
	LimiterUp bool
	// LimiterMemory is what a limiter in this process holds, nil for one elsewhere.
	LimiterMemory *LimiterMemory
	PollsWaiting  int // polls that are pending
	// JobsUnfinished is how many jobs wait or run, by the name of their queue.
	JobsUnfinished map[string]int
	// RevocationsKnown says that they were completely loaded once.
	RevocationsKnown bool
	// RevocationStaleness is how long ago the known ones were complete.
	RevocationStaleness time.Duration
}

// LimiterMemory is what a limiter in this process holds.
type LimiterMemory struct {
	Keys        int
	Bytes, Size int64
	Folded      uint64
}

// asked gives the State at each scrape.
var asked atomic.Pointer[func() (State, bool)]

// AskState has each scrape ask for the state of the running gateway; ok is false while none
// runs, and there are no such metrics then. ask MUST return within a bounded time. AskState is
// called once, for the process.
func AskState(ask func() (s State, ok bool)) { asked.Store(&ask) }

func gaugeDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, name), help, labels, nil)
}

// states is the collector of what is asked for, not counted.
type states struct{}

func init() { collectors = append(collectors, states{}) }

func (states) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		storeUp, limiterUp, limiterKeys, limiterBytes, limiterSize, limiterFolded, polls, unfinished, staleness,
	} {
		to <- d
	}
}

func (states) Collect(to chan<- prometheus.Metric) {
	ask := asked.Load()
	if ask == nil {
		return
	}
	s, ok := (*ask)()
	if !ok {
		return
	}
	stale := math.Inf(1)
	if s.RevocationsKnown {
		stale = s.RevocationStaleness.Seconds()
	}
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	gauge(storeUp, boolValue(s.StoreUp))
	gauge(limiterUp, boolValue(s.LimiterUp))
	gauge(polls, float64(s.PollsWaiting))
	gauge(staleness, stale)
	if m := s.LimiterMemory; m != nil {
		gauge(limiterKeys, float64(m.Keys))
		gauge(limiterBytes, float64(m.Bytes))
		gauge(limiterSize, float64(m.Size))
		to <- prometheus.MustNewConstMetric(limiterFolded, prometheus.CounterValue, float64(m.Folded))
	}
	for queue, n := range s.JobsUnfinished {
		gauge(unfinished, float64(n), queue)
	}
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
