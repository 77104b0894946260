package metrics

import "github.com/prometheus/client_golang/prometheus"

// closedSet is a counter with the values of each of its labels: a series begins at zero for
// each combination of them.
type closedSet struct {
	of     *prometheus.CounterVec
	values [][]string
}

// closedSets lists the counters whose labels have few values that are known. What guards,
// limiters, declared resources and jobs count begins when one is configured. A test compares
// the values with those that the other packages declare.
func closedSets() []closedSet {
	grants := []string{
		"authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code", "password", "other",
	}
	// The codes of RFC 6749 section 5.2, RFC 8707 and those for refusals of ours.
	refusals := []string{
		"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
		"invalid_target", "slow_down", "server_error", "temporarily_unavailable", "client_gone",
	}
	endpoint := []string{"invalid_request", "invalid_client", "unauthorized_client", "slow_down", "server_error", "temporarily_unavailable", "client_gone"}
	set := func(of *prometheus.CounterVec, values ...[]string) closedSet { return closedSet{of, values} }
	return []closedSet{
		set(tokenRequests, grants, append([]string{"issued"}, refusals...)),
		set(tokenRequests, []string{"urn:ietf:params:oauth:grant-type:device_code"}, []string{"authorization_pending", "access_denied", "expired_token"}),
		set(tokenRequests, []string{"variantb_authorization_code", "variantb_refresh_token"},
			[]string{"issued", "invalid_parameter", "invalid_client", "invalid_grant", "unsupported_grant_type", "method_not_allowed", "rate_limited", "server_error", "unavailable", "client_gone"}),
		set(revocations, append([]string{"revoked", "nothing"}, endpoint...)),
		set(introspected, append([]string{"active", "inactive", "insufficient_scope"}, endpoint...)),
		set(signIns, []string{"ok", "refused", "locked", "limited", "error"}),
		set(deprecated, []string{"implicit", "password"}),
		set(evicted),
		set(auditDropped),
		set(limitDropped),
		set(limiterFull),
		set(tickets, []string{"scan", "device"}, []string{"begun", "scanned", "confirmed", "denied", "wrong_number"}),
		set(failures, []string{"4xx", "5xx"}),
		set(normalised, []string{"4xx", "5xx"}, []string{"json", "html", "text", "empty", "shaped", "other"}),
		set(untranslated, []string{"syntax", "incomplete", "missing", "depth", "charset", "coding", "bomb", "redirect", "cursor", "gone"}),
		set(storeOps, []string{"get", "create", "swap", "delete", "list", "confirm"}, []string{"ok", "miss", "conflict", "error"}),
		set(jobFiles, []string{"passed", "forbidden", "unreachable", "refused", "redirects", "too_large", "timeout", "incomplete", "encoded"}),
	}
}

// startAtZero gives every series of a closed set its first value, so that rate() and
// increase() see the first event of each, and an alert on an outcome that has not happened
// yet finds a series.
func startAtZero() {
	for _, s := range closedSets() {
		startSeries(s.of, s.values...)
	}
}

// startSeries makes the series of a counter for each combination of its labels' values.
func startSeries(c *prometheus.CounterVec, values ...[]string) {
	combinations := [][]string{nil}
	for _, of := range values {
		var longer [][]string
		for _, before := range combinations {
			for _, v := range of {
				longer = append(longer, append(append([]string(nil), before...), v))
			}
		}
		combinations = longer
	}
	for _, labels := range combinations {
		c.WithLabelValues(labels...)
	}
}
