package gateway

import (
	"fmt"

	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// provisionOutage reads what an outage is to the requests of this handler, and tells the
// readiness of the node.
func (l *Limit) provisionOutage() (err error) {
	if l.outage, err = ratelimit.ParseOutage(l.OnOutage); err != nil {
		return fmt.Errorf("api_limit: %w", err)
	}
	if l.outage == ratelimit.OutageClosed {
		l.app.limitsClose = true
	}
	return nil
}

// decisions counts them for one kind of policy.
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

func (d *decisions) of(v ratelimit.Verdict) metrics.Counter {
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

// hidden is the form of a subject that a placeholder gave: it may be a credential, such as
// the value of a header field, and the keys of a limiter are read by whoever may look at
// its server. "" stays: the policy does not apply.
func hidden(subject string) string {
	if subject == "" {
		return ""
	}
	return secret.Digest(subject)[:32] // 128 bits tell callers apart
}
