package apilimit

import (
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// The results of decisions, in metrics and placeholders.
const (
	resultAdmitted, resultRefused             = "admitted", "refused"
	resultOutageAdmitted, resultOutageRefused = "outage_admitted", "outage_refused"
	resultUnavailable                         = "unavailable"
)

func resultOf(v ratelimit.Verdict) string {
	switch {
	case v.Outage && v.Admitted:
		return resultOutageAdmitted
	case v.Outage:
		return resultOutageRefused
	case v.Admitted:
		return resultAdmitted
	}
	return resultRefused
}

// counters count the decisions of one policy. Its name is their label: configurations declare it,
// so the labels are a closed set.
type counters struct {
	admitted, refused             metrics.Counter
	outageAdmitted, outageRefused metrics.Counter // while the counts were out of reach
	failed                        metrics.Counter // requests that could not be judged: 503
}

func newCounters(policy string) counters {
	count := func(result string) metrics.Counter { return metrics.Set{}.Limit(policy, result) }
	return counters{
		admitted: count(resultAdmitted), refused: count(resultRefused),
		outageAdmitted: count(resultOutageAdmitted), outageRefused: count(resultOutageRefused), failed: count(resultUnavailable),
	}
}

func (c *counters) of(v ratelimit.Verdict) metrics.Counter {
	switch resultOf(v) {
	case resultAdmitted:
		return c.admitted
	case resultOutageAdmitted:
		return c.outageAdmitted
	case resultOutageRefused:
		return c.outageRefused
	}
	return c.refused
}

// countDecision counts a verdict, for the policy that the client is told of.
func (l *Limit) countDecision(v ratelimit.Verdict, reported ratelimit.Result) {
	to := &l.unreported
	for i := range l.policies {
		if &l.policies[i] == reported.Policy {
			to = &l.counts[i]
		}
	}
	to.of(v).Inc()
	for _, r := range v.Results {
		if r.Shared {
			l.metrics.LimiterFull()
		}
	}
}

// unreportedLabel is the policy in metrics of decisions without a reported policy. No policy may
// have this name.
const unreportedLabel = "none"
