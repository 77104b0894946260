package livewatch

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/watch"
)

const (
	// maxNames bounds the callers, routes and reasons that are counted by name.
	maxNames = 10_000
	// topNames is how many of them are shown.
	topNames = 10
	// latencyStep is the ratio of one bucket of latencies to the next: quantiles are exact to 5 %.
	latencyStep = 1.05
)

// Summary counts decisions. Its memory is bounded.
type Summary struct {
	lost int64

	outcomes        map[string]int64
	reasons         map[string]int64
	callers, routes map[string]int64 // refused
	latencies       map[int]int64    // by the logarithm
}

func (s *Summary) add(d *watch.Decision) {
	if s.outcomes == nil {
		s.outcomes, s.reasons = make(map[string]int64), make(map[string]int64)
		s.callers, s.routes, s.latencies = make(map[string]int64), make(map[string]int64), make(map[int]int64)
	}
	s.outcomes[d.Outcome]++
	s.latencies[bucketOf(d.Milliseconds)]++
	if d.Outcome != watch.Refused {
		return
	}
	count(s.reasons, cmp.Or(d.Reason, fmt.Sprintf("status %d", d.Status))) // the authorization server states none
	count(s.callers, caller(d))
	count(s.routes, cmp.Or(d.Route, d.Method+" "+d.Path))
}

// count counts a name, unless there are too many.
func count(names map[string]int64, name string) {
	if _, known := names[name]; known || len(names) < maxNames {
		names[name]++
	}
}

func bucketOf(ms float64) int {
	const least = 0.001
	return int(math.Round(math.Log(max(ms, least)) / math.Log(latencyStep)))
}

// quantile is the latency that the part q of all stays within, in milliseconds.
func (s *Summary) quantile(q float64) float64 {
	var all, seen int64
	for _, n := range s.latencies {
		all += n
	}
	for _, b := range slices.Sorted(maps.Keys(s.latencies)) {
		if seen += s.latencies[b]; float64(seen) >= q*float64(all) {
			return math.Pow(latencyStep, float64(b))
		}
	}
	return 0
}

// named is how often a name occurred.
type named struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// report is a summary as JSON.
type report struct {
	Seconds        float64          `json:"seconds"`
	Requests       int64            `json:"requests"`
	Lost           int64            `json:"lost"`
	Outcomes       map[string]int64 `json:"outcomes"`
	RefusalReasons []named          `json:"refusal_reasons"`
	CallersRefused []named          `json:"callers_refused"`
	RoutesRefused  []named          `json:"routes_refused"`
	P50            float64          `json:"latency_p50_ms"`
	P99            float64          `json:"latency_p99_ms"`
}

// report sums up what was seen in so much time.
func (s *Summary) report(took time.Duration) report {
	r := report{
		Seconds: math.Round(took.Seconds()*10) / 10, Lost: s.lost, Outcomes: make(map[string]int64),
		RefusalReasons: top(s.reasons), CallersRefused: top(s.callers), RoutesRefused: top(s.routes),
		P50: s.quantile(.5), P99: s.quantile(.99),
	}
	for _, name := range watch.Outcomes {
		r.Outcomes[name] = s.outcomes[name]
		r.Requests += s.outcomes[name]
	}
	return r
}

// top returns the most frequent names.
func top(names map[string]int64) []named {
	all := make([]named, 0, len(names))
	for name, n := range names {
		all = append(all, named{name, n})
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), topNames)]
}

// End prints the summary.
func (p *Printer) End(took time.Duration) {
	r := p.report(took)
	if p.JSON {
		p.line(map[string]report{"summary": r})
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\n%d requests in %v: %d allowed, %d refused, %d failed\n", r.Requests, took.Round(time.Second/10),
		r.Outcomes[watch.Allowed], r.Outcomes[watch.Refused], r.Outcomes[watch.Failed])
	if r.Requests > 0 {
		fmt.Fprintf(&text, "Latency: p50 %s, p99 %s\n", milliseconds(r.P50), milliseconds(r.P99))
	}
	for _, list := range []struct {
		title string
		names []named
	}{{"Reasons of refusals", r.RefusalReasons}, {"Callers refused most", r.CallersRefused}, {"Routes refused most", r.RoutesRefused}} {
		if len(list.names) == 0 {
			continue
		}
		fmt.Fprintln(&text, list.title+":")
		for _, n := range list.names {
			fmt.Fprintf(&text, "%8d  %s\n", n.Count, p.Neutralize(n.Name))
		}
	}
	if r.Lost > 0 {
		fmt.Fprintf(&text, "%d more decisions were lost and are not counted.\n", r.Lost)
	}
	_, _ = io.WriteString(p.Out, text.String())
}
