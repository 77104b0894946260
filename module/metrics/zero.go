package metrics

import "github.com/prometheus/client_golang/prometheus"

// startAtZero gives every series of a closed set its first value, so that rate() and
// increase() see the first event of each, and an alert on an outcome that has not happened
// yet finds a series. What guards, limiters, declared resources and jobs count begins when
// one is configured.
func startAtZero() {
	grants := []string{
		"authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code", "password", "other",
	}
	// The codes of RFC 6749 section 5.2, RFC 8707 and those for refusals of ours.
	refusals := []string{
		"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
		"invalid_target", "slow_down", "server_error", "temporarily_unavailable",
	}
	start(tokenRequests, grants, append([]string{"issued"}, refusals...))
	start(tokenRequests, []string{"urn:ietf:params:oauth:grant-type:device_code"}, []string{"authorization_pending", "access_denied", "expired_token"})
	start(tokenRequests, []string{"variantb_authorization_code", "variantb_refresh_token"},
		[]string{"issued", "invalid_parameter", "invalid_client", "invalid_grant", "unsupported_grant_type"})
	endpoint := []string{"invalid_request", "invalid_client", "unauthorized_client", "slow_down", "server_error", "temporarily_unavailable"}
	start(revocations, append([]string{"revoked", "nothing"}, endpoint...))
	start(introspected, append([]string{"active", "inactive", "insufficient_scope"}, endpoint...))
	start(signIns, []string{"ok", "refused", "locked", "limited", "error"})
	start(deprecated, []string{"implicit", "password"})
	start(evicted)
	start(auditDropped)
	start(limiterFull)
	start(tickets, []string{"scan", "device"}, []string{"begun", "scanned", "confirmed", "denied", "wrong_number"})
	start(failures, []string{"4xx", "5xx"})
	start(normalised, []string{"4xx", "5xx"}, []string{"json", "html", "text", "empty", "shaped", "other"})
	start(untranslated, []string{"syntax", "incomplete", "missing", "depth", "coding", "bomb", "redirect", "gone"})
	start(storeOps, []string{"get", "create", "swap", "delete", "list"}, []string{"ok", "miss", "conflict", "error"})
	start(jobFiles, []string{"passed", "forbidden", "unreachable", "refused", "redirects", "too_large", "timeout", "incomplete", "encoded"})
}

// start makes the series of a counter for each combination of its labels' values.
func start(c *prometheus.CounterVec, values ...[]string) {
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
