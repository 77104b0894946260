package metrics

import (
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// State is what the running gateway knows about the parts it depends on.
type State struct {
	Ready         bool // what /gatehouse/ready of the admin endpoint answers
	StoreUp       bool
	StoreDegraded bool
	LimiterUp     bool
	// LimiterMemory is what a limiter in this process holds, nil for one elsewhere.
	LimiterMemory *LimiterMemory
	TokenCache    TokenCache
	PollsWaiting  int // polls that are pending
	// JobsUnfinished is how many jobs wait or run, by the name of their queue.
	JobsUnfinished map[string]int
	// Revocations is how many are in memory, RevocationsMax how many may be.
	Revocations, RevocationsMax int
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

// TokenCache says which verified tokens this process remembers.
type TokenCache struct {
	Tokens       int
	Bytes, Size  int64
	Hits, Misses uint64
}

// limiterMemory begins the names of metrics that only a limiter in this process has.
const limiterMemory = "limiter_memory_"

// stateMetrics are asked for at each scrape: counters, where the name ends with _total, and gauges.
var stateMetrics = []struct {
	name, help string
	value      func(State) float64
}{
	{"ready", "Whether this node can serve, as /ready says: 1 or 0.", func(s State) float64 { return boolValue(s.Ready) }},
	{"store_up", "Whether the store answered the last probe: 1 or 0.", func(s State) float64 { return boolValue(s.StoreUp) }},
	{"store_degraded", "Whether the store answers but cannot do everything, such as writing: 1 or 0.", func(s State) float64 { return boolValue(s.StoreDegraded) }},
	{"limiter_up", "Whether the limiter reaches its counts: 1 or 0.", func(s State) float64 { return boolValue(s.LimiterUp) }},
	{limiterMemory + "keys", "Callers with counts of their own in this process, for each policy.",
		func(s State) float64 { return float64(s.LimiterMemory.Keys) }},
	{limiterMemory + "bytes", "Memory that the counts of requests in this process take.",
		func(s State) float64 { return float64(s.LimiterMemory.Bytes) }},
	{limiterMemory + "max_bytes", "Memory that they may take, the size of the limiter.",
		func(s State) float64 { return float64(s.LimiterMemory.Size) }},
	{limiterMemory + "folded_callers_total", "Callers whose counts went into a shared bucket, since the memory was full.",
		func(s State) float64 { return float64(s.LimiterMemory.Folded) }},
	{"token_cache_tokens", "Verified access tokens that this node remembers.", func(s State) float64 { return float64(s.TokenCache.Tokens) }},
	{"token_cache_bytes", "Memory that they take.", func(s State) float64 { return float64(s.TokenCache.Bytes) }},
	{"token_cache_max_bytes", "Memory that they may take, token_cache of the configuration.",
		func(s State) float64 { return float64(s.TokenCache.Size) }},
	{"token_cache_hits_total", "Tokens presented that were remembered.", func(s State) float64 { return float64(s.TokenCache.Hits) }},
	{"token_cache_misses_total", "Tokens presented whose signature had to be verified.",
		func(s State) float64 { return float64(s.TokenCache.Misses) }},
	{"polls_waiting", "Polls that hang until somebody confirms on a second device.",
		func(s State) float64 { return float64(s.PollsWaiting) }},
	{"revocations_held", "Revocations in this process's memory.", func(s State) float64 { return float64(s.Revocations) }},
	{"revocations_max", "Revocations that it may hold; beyond that, those that expire first give way to a time for their client.",
		func(s State) float64 { return float64(s.RevocationsMax) }},
	{"revocation_staleness_seconds",
		"How long ago what this process knows of revocations was complete: 0 while the feed runs, +Inf before it was complete once.",
		func(s State) float64 {
			if !s.RevocationsKnown {
				return math.Inf(1)
			}
			return s.RevocationStaleness.Seconds()
		}},
}

var unfinished = describe("rest_jobs_unfinished", "Jobs that wait or run on all nodes, by the name of their queue, as this node last saw.", "queue")

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, name), help, labels, nil)
}

// asked gives the State at each scrape.
var asked atomic.Pointer[func() (State, bool)]

// AskState has each scrape ask for the state of the running gateway; ok is false while none
// runs, and there are no such metrics then. ask MUST return within a bounded time. AskState is
// called once, for the process.
func AskState(ask func() (s State, ok bool)) { asked.Store(&ask) }

// states is the collector of what is asked for, not counted.
type states struct{}

func init() { collectors = append(collectors, states{}) }

func (states) Describe(to chan<- *prometheus.Desc) {
	for _, m := range stateMetrics {
		to <- describe(m.name, m.help)
	}
	to <- unfinished
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
	for _, m := range stateMetrics {
		if s.LimiterMemory == nil && strings.HasPrefix(m.name, limiterMemory) {
			continue
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(m.name, "_total") {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(describe(m.name, m.help), kind, m.value(s))
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
