// Package metrics holds the gateway's Prometheus collectors: one set for the whole process,
// whose values survive a reload, and their registration with the registry of each
// configuration that is loaded. Labels come from closed sets or name what a configuration
// declares (policies, queues, upstream servers); no client, user, address or path of a request ever becomes one.
package metrics

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const namespace, subsystem = "caddy", "gatehouse"

var (
	tokenRequests = newCounter("token_requests_total", "Requests at the token endpoint by grant type and outcome (issued, or the error code).", "grant", "outcome")
	signIns       = newCounter("sign_in_attempts_total", "Sign-in attempts by outcome: ok, refused, locked, limited, error.", "outcome")
	deprecated    = newCounter("deprecated_grant_tokens_total", "Access tokens issued by a grant type that RFC 9700 says not to use, by grant type.", "grant")
	evicted       = newCounter("grants_evicted_total", "Grants that ended because their user got another one at the same client and had grants_per_user already.")
	revocations   = newCounter("revocation_requests_total", "Requests at the revocation endpoint by outcome (revoked, nothing, or the error code).", "outcome")
	introspected  = newCounter("introspection_requests_total", "Requests at the introspection endpoint by outcome (active, inactive, insufficient_scope, or another error code).", "outcome")
	audited       = newCounter("audit_events_total", "Events of the audit trail by name.", "event")
	auditDropped  = newCounter("audit_events_dropped_total", "Events of the audit trail that Caddy's event handlers did not get, since their queue was full or the configuration ended. Their lines were written.")
	guarded       = newCounter("guard_decisions_total", "Requests at a guard by the reason of the decision.", "reason")
	refusedTokens = newCounter("guard_refused_tokens_total", "Tokens that guards refused, or in shadow mode would have, by the check that failed: what is invalid_token of guard_decisions_total.", "check")
	shadowed      = newCounter("guard_shadow_refusals_total", "Requests that a guard in shadow mode would have refused, by the reason.", "reason")
	overload      = newCounter("overload_refused_requests_total", "Requests refused because the process had more than it could answer in time, by class: anonymous, client (credentials not checked yet), known (a token that was checked before).", "class")
	limited       = newCounter("limit_decisions_total", "Decisions of a limiter by the name of the policy that the client was told of (none without one) and the result.", "policy", "result")
	limitDropped  = newCounter("limit_events_dropped_total", "Caddy events about refused requests that their handlers did not get, since their queue was full or the configuration ended.")
	limiterFull   = newCounter("limit_shared_decisions_total", "Decisions on callers without counts of their own, by those of a bucket they share since the limiter's memory was full.")
	normalised    = newCounter("upstream_error_responses_total", "Upstream error answers put into the common shape, by status class and kind of body.", "class", "body")
	removedFields = newCounter("upstream_fields_removed_total", "Answers of an upstream from which a header field was removed that only the gateway may send, by field: set_cookie, clear_site_data, www_authenticate.", "field")
	unreachable   = newCounter("upstream_dial_failures_total", "Failures of api_proxy to connect to a server, by the server as configured.", "upstream")
	failures      = newCounter("error_responses_total", "Errors that the gateway itself answered, by status class: those of oauth_server, and of the handlers behind api_errors.", "class")
	tickets       = newCounter("tickets_total", "Requests confirmed on a second device, by kind (scan: a code to scan, device: one to type) and what became of them (begun, scanned, confirmed, denied, wrong_number).", "kind", "outcome")
	restRequests  = newCounter("rest_requests_total", "Requests for declared resources by what they do.", "operation")
	untranslated  = newCounter("rest_translation_failures_total", "Answers of an upstream that could not be translated, by the reason.", "reason")
	jobs          = newCounter("rest_jobs_total", "Jobs by the name of their queue and what became of them: accepted, not for want of room (queue_full, client_full), ended (succeeded, failed, cancelled), or cut off with their node (interrupted, or repeated where that is declared).", "queue", "outcome")
	jobFiles      = newCounter("rest_job_files_total", "Files that jobs fetched: passed on, or the reason why not.", "outcome")
	jobsRunning   = newGauges("rest_jobs_running", "Jobs that this node runs, by the name of their queue.", "queue")
	storeOps      = newCounter("store_operations_total", "Operations on the store by name and result: ok, miss, conflict, error.", "operation", "result")
	storeSeconds  = newHistogram("store_operation_duration_seconds", "Time an operation on the store took, in seconds.", "operation")
)

var collectors []prometheus.Collector

// collect adds a collector to those that [Register] makes visible.
func collect[C prometheus.Collector](c C) C {
	collectors = append(collectors, c)
	return c
}

func newCounter(name, help string, labels ...string) *prometheus.CounterVec {
	return collect(prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, labels))
}

func newGauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return collect(prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, labels))
}

func newHistogram(name, help string, labels ...string) *prometheus.HistogramVec {
	return collect(prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Subsystem: subsystem, Name: name, Help: help,
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1},
	}, labels))
}

// Counter is one counter with its labels resolved, for what happens with every request.
type Counter interface{ Inc() }

// Gauge is one gauge with its labels resolved. It outlives a configuration, as what it
// counts may.
type Gauge interface{ Add(float64) }

// Set counts what happens. Its zero value is the process-wide set. The help texts above say
// what each method counts.
type Set struct{}

func (Set) Revocation(outcome string)          { revocations.WithLabelValues(outcome).Inc() }
func (Set) Introspection(outcome string)       { introspected.WithLabelValues(outcome).Inc() }
func (Set) TokenRequest(grant, outcome string) { tokenRequests.WithLabelValues(grant, outcome).Inc() }
func (Set) DeprecatedGrant(grant string)       { deprecated.WithLabelValues(grant).Inc() }
func (Set) GrantEvicted()                      { evicted.WithLabelValues().Inc() }
func (Set) SignIn(outcome string)              { signIns.WithLabelValues(outcome).Inc() }
func (Set) Ticket(kind, outcome string)        { tickets.WithLabelValues(kind, outcome).Inc() }

func (Set) Audit(event string) Counter          { return audited.WithLabelValues(event) }
func (Set) AuditDropped() Counter               { return auditDropped.WithLabelValues() }
func (Set) Guard(reason string) Counter         { return guarded.WithLabelValues(reason) }
func (Set) RefusedToken(check string) Counter   { return refusedTokens.WithLabelValues(check) }
func (Set) Shadow(reason string) Counter        { return shadowed.WithLabelValues(reason) }
func (Set) Overload(class string) Counter       { return overload.WithLabelValues(class) }
func (Set) Limit(policy, result string) Counter { return limited.WithLabelValues(policy, result) }
func (Set) LimitEventDropped() Counter          { return limitDropped.WithLabelValues() }
func (Set) LimiterFull()                        { limiterFull.WithLabelValues().Inc() }

// Failure counts an answer of the gateway itself, unless it is a success.
func (Set) Failure(status int) {
	if status >= http.StatusBadRequest {
		failures.WithLabelValues(classOf(status)).Inc()
	}
}

func (Set) UpstreamError(status int, b string) {
	normalised.WithLabelValues(classOf(status), b).Inc()
}
func (Set) Unreachable(upstream string) Counter {
	return unreachable.WithLabelValues(upstream)
}
func (Set) UpstreamField(field string) Counter { return removedFields.WithLabelValues(field) }
func (Set) REST(operation string) Counter      { return restRequests.WithLabelValues(operation) }
func (Set) Untranslated(reason string)         { untranslated.WithLabelValues(reason).Inc() }
func (Set) Job(queue, outcome string) Counter  { return jobs.WithLabelValues(queue, outcome) }
func (Set) JobFile(outcome string)             { jobFiles.WithLabelValues(outcome).Inc() }
func (Set) JobsRunning(queue string) Gauge     { return jobsRunning.WithLabelValues(queue) }

// StoreOperation counts and times an operation on the store.
func (Set) StoreOperation(operation, result string, took time.Duration) {
	storeOps.WithLabelValues(operation, result).Inc()
	storeSeconds.WithLabelValues(operation).Observe(took.Seconds())
}

// ByName resolves the counters of all names of a closed set.
func ByName[K ~string](names []K, counter func(name string) Counter) map[K]Counter {
	all := make(map[K]Counter, len(names))
	for _, name := range names {
		all[name] = counter(string(name))
	}
	return all
}

// classOf is the label for the status of an error.
func classOf(status int) string {
	switch {
	case status >= 400 && status < 500:
		return "4xx"
	case status >= 500 && status < 600:
		return "5xx"
	}
	return "other"
}

// Register makes the set visible in the registry of a configuration. Doing so twice
// with one registry is no error.
func Register(reg prometheus.Registerer) error {
	startAtZero()
	setBuildInfo()
	for _, c := range collectors {
		err := reg.Register(c)
		var already prometheus.AlreadyRegisteredError
		if errors.As(err, &already) && already.ExistingCollector == c {
			continue
		}
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	return nil
}
