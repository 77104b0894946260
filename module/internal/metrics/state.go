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

// State is what the gateway that runs knows of the parts it depends on.
type State struct {
	StoreUp   bool
	LimiterUp bool
	// LimiterMemory is what a limiter in this process holds, nil for one elsewhere.
	LimiterMemory *LimiterMemory
	// PollsWaiting is how many polls hang.
	PollsWaiting int
	// JobsUnfinished is how many jobs wait or run, by the name of their queue.
	JobsUnfinished map[string]int
	// RevocationsKnown: they were completely loaded once.
	RevocationsKnown bool
	// RevocationStaleness is how long ago what is known of them was complete.
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

// AskState has each scrape ask for the state of the gateway that runs; ok is false while
// none does, and there are no such metrics then. ask MUST return within a bounded time. It
// is called once, for the process.
func AskState(ask func() (s State, ok bool)) { asked.Store(&ask) }

func gaugeDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, name), help, labels, nil)
}

// states is the collector of what is asked for, not counted.
type states struct{}

func init() { collectors = append(collectors, states{}) }

func (states) Describe(to chan<- *prometheus.Desc) {
	to <- storeUp
	to <- limiterUp
	to <- limiterKeys
	to <- limiterBytes
	to <- limiterSize
	to <- limiterFolded
	to <- polls
	to <- unfinished
	to <- staleness
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
	for desc, value := range map[*prometheus.Desc]float64{storeUp: boolValue(s.StoreUp), limiterUp: boolValue(s.LimiterUp), polls: float64(s.PollsWaiting), staleness: stale} {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	if m := s.LimiterMemory; m != nil {
		to <- prometheus.MustNewConstMetric(limiterKeys, prometheus.GaugeValue, float64(m.Keys))
		to <- prometheus.MustNewConstMetric(limiterBytes, prometheus.GaugeValue, float64(m.Bytes))
		to <- prometheus.MustNewConstMetric(limiterSize, prometheus.GaugeValue, float64(m.Size))
		to <- prometheus.MustNewConstMetric(limiterFolded, prometheus.CounterValue, float64(m.Folded))
	}
	for queue, n := range s.JobsUnfinished {
		to <- prometheus.MustNewConstMetric(unfinished, prometheus.GaugeValue, float64(n), queue)
	}
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
