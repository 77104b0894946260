package metrics

import (
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestCountersSurviveReloadsAndReregistration(t *testing.T) {
	var set Set
	for range 3 { // three configurations, each with a registry of its own
		reg := prometheus.NewPedanticRegistry()
		for range 2 { // two handlers in each
			if err := Register(reg); err != nil {
				t.Fatal(err)
			}
		}
		set.SignIn("ok")
		if _, err := reg.Gather(); err != nil {
			t.Fatal(err)
		}
	}
	if got := testutil.ToFloat64(signIns.WithLabelValues("ok")); got != 3 {
		t.Errorf("sign-ins after three configurations: %v, want 3", got)
	}
}

func TestMetricsFollowTheNamingConventions(t *testing.T) {
	var set Set
	set.TokenRequest("authorization_code", "issued")
	set.StoreOperation("get", "ok", 0)
	set.LimiterFull()
	set.Revocation("revoked")
	set.Introspection("inactive")
	set.DeprecatedGrant("password")
	set.Ticket("scan", "begun")
	set.Job("imports", "accepted").Inc()
	set.JobFile("passed")
	set.JobsRunning("imports").Add(1)
	reg := prometheus.NewPedanticRegistry()
	if err := Register(reg); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

func TestEveryOutcomeStartsAtZero(t *testing.T) { // S11
	reg := prometheus.NewPedanticRegistry()
	if err := Register(reg); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]int{}
	for _, f := range families {
		series[strings.TrimPrefix(f.GetName(), "caddy_gatehouse_")] = len(f.GetMetric())
	}
	for name, least := range map[string]int{
		"token_requests_total": 87, "sign_in_attempts_total": 5, "revocation_requests_total": 9, "introspection_requests_total": 10, "deprecated_grant_tokens_total": 2,
		"grants_evicted_total": 1, "audit_events_dropped_total": 1, "limit_shared_decisions_total": 1, "tickets_total": 10, "error_responses_total": 2,
		"upstream_error_responses_total": 12, "rest_translation_failures_total": 8, "rest_job_files_total": 9, "store_operations_total": 24,
	} {
		if series[name] < least {
			t.Errorf("%s has %d series, want %d", name, series[name], least)
		}
	}
}

func TestGaugesAreReadAtEachScrape(t *testing.T) {
	t.Cleanup(func() { asked.Store(nil) })
	reg := prometheus.NewPedanticRegistry()
	if err := Register(reg); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		state State
		ok    bool
		want  string
	}{
		"no gateway":                       {State{}, false, ""},
		"before the revocations are known": {State{StoreUp: true, LimiterUp: true}, true, "1 1 +Inf 0"},
		"all is well":                      {State{StoreUp: true, LimiterUp: true, PollsWaiting: 7, JobsUnfinished: map[string]int{"imports": 3}, RevocationsKnown: true}, true, "1 1 0 7"},
		"the store is away":                {State{RevocationsKnown: true, RevocationStaleness: 1500 * time.Millisecond}, true, "0 0 1.5 0"},
	} {
		AskState(func() (State, bool) { return c.state, c.ok })
		values := map[string]string{}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetType().String() == "GAUGE" {
				values[f.GetName()] = strconv.FormatFloat(f.GetMetric()[0].GetGauge().GetValue(), 'g', -1, 64)
			}
		}
		const p = "caddy_gatehouse_"
		if got := strings.TrimSpace(values[p+"store_up"] + " " + values[p+"limiter_up"] + " " + values[p+"revocation_staleness_seconds"] + " " + values[p+"polls_waiting"]); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	AskState(func() (State, bool) {
		return State{LimiterMemory: &LimiterMemory{Keys: 3, Bytes: 4096, Size: 1 << 20, Folded: 5}, TokenCache: TokenCache{Tokens: 7, Bytes: 2800, Size: 1 << 21, Hits: 9, Misses: 8}}, true
	})
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		held[strings.TrimPrefix(f.GetName(), "caddy_gatehouse_")] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	for name, want := range map[string]float64{
		"limiter_memory_keys": 3, "limiter_memory_bytes": 4096, "limiter_memory_max_bytes": 1 << 20, "limiter_memory_folded_callers_total": 5,
		"token_cache_tokens": 7, "token_cache_bytes": 2800, "token_cache_max_bytes": 1 << 21, "token_cache_hits_total": 9, "token_cache_misses_total": 8,
	} {
		if held[name] != want {
			t.Errorf("%s is %v, expected %v", name, held[name], want)
		}
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// The page about monitoring has every metric with its type and labels, and nothing else.
func TestMonitoringPageListsTheMetrics(t *testing.T) {
	page, err := os.ReadFile("../../../deploy/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Metrics")
	table, _, _ = strings.Cut(table, "### Renamed metrics")
	documented := map[string]string{}
	code := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")
		if len(cells) < 6 || !strings.Contains(cells[1], "`") {
			continue
		}
		labels := ""
		for _, l := range code.FindAllStringSubmatch(cells[3], -1) {
			labels += " " + l[1]
		}
		for _, name := range code.FindAllStringSubmatch(cells[1], -1) {
			documented["caddy_gatehouse_"+name[1]] = strings.TrimSpace(cells[2]) + labels
		}
	}
	descs := make(chan *prometheus.Desc, 100)
	parts := regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{(.*)\}\}$`)
	described := map[string]string{}
	for _, c := range collectors {
		c.Describe(descs)
		kind := ""
		switch c.(type) {
		case *prometheus.CounterVec:
			kind = "counter"
		case *prometheus.GaugeVec:
			kind = "gauge"
		case *prometheus.HistogramVec:
			kind = "histogram"
		}
		for len(descs) > 0 {
			d := parts.FindStringSubmatch((<-descs).String())
			if d == nil {
				t.Fatal("a description has another form")
			}
			k := kind
			if k == "" && strings.HasSuffix(d[1], "_total") {
				k = "counter"
			} else if k == "" {
				k = "gauge"
			}
			described[d[1]] = strings.TrimSpace(k + " " + strings.ReplaceAll(d[2], ",", " "))
		}
	}
	if diff := cmp.Diff(described, documented); diff != "" {
		t.Error("- a metric, + the page:\n" + diff)
	}
}

func TestBuildInfoNamesTheModuleVersion(t *testing.T) {
	replaced := &debug.Module{Path: gatewayModule, Version: "v0.0.0", Replace: &debug.Module{Path: "/src"}}
	for want, info := range map[string]*debug.BuildInfo{
		"v0.1.0":  {Deps: []*debug.Module{{Path: caddyModule, Version: "v2.11.0"}, {Path: gatewayModule, Version: "v0.1.0"}}},
		"(devel)": {Deps: []*debug.Module{replaced}},
		"v0.2.0":  {Main: debug.Module{Path: gatewayModule, Version: "v0.2.0"}},
		"unknown": {},
	} {
		if got := moduleVersion(info, gatewayModule); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}
