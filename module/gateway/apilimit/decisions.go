package apilimit

import (
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// decisions are the counters for one kind of policy.
type decisions struct {
	admitted, refused             metrics.Counter
	outageAdmitted, outageRefused metrics.Counter // while the counts were out of reach
	failed                        metrics.Counter // requests that could not be judged: 503
}

func newDecisions(policy string) decisions {
	count := func(result string) metrics.Counter { return metrics.Set{}.Limit(policy, result) }
	return decisions{
		admitted: count("admitted"), refused: count("refused"),
		outageAdmitted: count("outage_admitted"), outageRefused: count("outage_refused"), failed: count("unavailable"),
	}
}

func (d *decisions) counterOf(v ratelimit.Verdict) metrics.Counter {
	switch {
	case v.Outage && v.Admitted:
		return d.outageAdmitted
	case v.Outage:
		return d.outageRefused
	case v.Admitted:
		return d.admitted
	}
	return d.refused
}

// countDecision counts a verdict, for the policy that the client is told of.
func (l *Limit) countDecision(v ratelimit.Verdict, reported ratelimit.Result) {
	to := &l.unreported
	for i := range l.policies {
		if &l.policies[i] == reported.Policy {
			to = &l.counts[i]
		}
	}
	to.counterOf(v).Inc()
	for _, r := range v.Results {
		if r.Shared {
			l.metrics.LimiterFull()
		}
	}
}

// label is a policy's label in metrics: its kind, or the name of a policy with a placeholder,
// so the labels are a closed set. A name that equals a kind is counted as "custom".
func (l *Limit) label(i int) string {
	p := l.Policies[i]
	switch {
	case slices.Contains(policyKinds, p.By):
		return p.By
	case slices.Contains(policyKinds, p.Name) || p.Name == unreportedLabel:
		return "custom"
	}
	return p.Name
}

// unreportedLabel is the label of decisions without a reported policy.
const unreportedLabel = "none"
