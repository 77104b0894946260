package gateway

import (
	"strings"
	"testing"
)

// S11: alerts and rate() need a series before its first event.
func TestCountersStartAtZero(t *testing.T) {
	g := startApart(t, site)
	text := g.Scrape(t)
	for _, series := range []string{
		`sign_in_attempts_total{outcome="locked"}`, `token_requests_total{grant="refresh_token",outcome="invalid_grant"}`, `token_requests_total{grant="authorization_code",outcome="issued"}`,
		`revocation_requests_total{outcome="nothing"}`, `introspection_requests_total{outcome="inactive"}`, `tickets_total{kind="scan",outcome="wrong_number"}`,
		`deprecated_grant_tokens_total{grant="password"}`, `grants_evicted_total`, `error_responses_total{class="5xx"}`, `upstream_error_responses_total{body="html",class="5xx"}`,
		`guard_decisions_total{reason="valid"}`, `limit_decisions_total{policy="client",result="refused"}`, `overload_refused_requests_total{class="known"}`,
		`rest_translation_failures_total{reason="bomb"}`, `audit_events_dropped_total`,
	} {
		if !strings.Contains(text, "caddy_gatehouse_"+series+" 0\n") {
			t.Errorf("%s is not 0", series)
		}
	}
}
