package outage

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func TestLimiterOutageIsNotALimitReached(t *testing.T) { // L12
	g, up, _, l := start(t, with("$OUTAGE", "on_outage closed"))
	bearer := token(t, g)
	const failed = `caddy_gatehouse_limit_decisions_total{policy="none",result="unavailable"}`
	before := g.Metric(t, failed)
	expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
	l.set(func(l *fakeLimiter) { l.away = errAway })
	p := expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusServiceUnavailable)
	e, _ := p.JSON(t)["error"].(map[string]any)
	if e["code"] != "unavailable" || p.Header.Get("Retry-After") != "1" || p.Header.Get("X-Ratelimit-Limit") != "" || strings.Contains(p.Body, "redis") {
		t.Errorf("%v %s", p.Header, p.Body)
	}
	if len(up.Hits()) != 1 || g.Metric(t, failed) != before+1 {
		t.Errorf("%d requests came through, %v counted", len(up.Hits()), g.Metric(t, failed)-before)
	}
	l.set(func(l *fakeLimiter) { l.away = nil })
	if p := expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK); p.Header.Get("X-Ratelimit-Remaining") != "98" {
		t.Errorf("%v", p.Header)
	}
}

func TestOnOutageReachesTheLimiter(t *testing.T) {
	for words, want := range map[string]ratelimit.Outage{
		"": ratelimit.OutageLocal, "on_outage local": ratelimit.OutageLocal, "on_outage open": ratelimit.OutageOpen, "on_outage closed": ratelimit.OutageClosed,
	} {
		g, _, _, l := start(t, with("$OUTAGE", words))
		expect(t, g.Call(t, http.MethodGet, "/read", token(t, g)), http.StatusOK)
		l.set(func(l *fakeLimiter) {
			if !slices.Equal(l.outages, []ratelimit.Outage{want}) {
				t.Errorf("%q: %v", words, l.outages)
			}
		})
	}
	g, _, _, _ := prepare(t)
	raw, err := g.Adapt(with("$OUTAGE", "on_outage open"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validateJSON(t, strings.Replace(string(raw), `"on_outage":"open"`, `"on_outage":"fail"`, 1)); err == nil || !strings.Contains(err.Error(), "expected local, open or closed") {
		t.Errorf("%v", err)
	}
}

func TestOutageDecisionReportsOnlyWhatIsKnown(t *testing.T) {
	g, up, _, l := start(t, with("$OUTAGE", "on_outage open"))
	bearer := token(t, g)
	up.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "the API's own")
		w.Header().Set("X-RateLimit-Remaining", "the API's own")
	})
	series := func(policy, result string) string {
		return `caddy_gatehouse_limit_decisions_total{policy="` + policy + `",result="` + result + `"}`
	}
	policy := &ratelimit.Policy{Name: "client", Limit: 100, Window: time.Hour}
	for name, c := range map[string]struct {
		verdict      ratelimit.Verdict
		status       int
		limit, retry string
		series       string
	}{
		"admitted": {ratelimit.Verdict{Admitted: true, Outage: true}, http.StatusOK, "", "", series("none", "outage_admitted")},
		"refused":  {ratelimit.Verdict{Outage: true}, http.StatusTooManyRequests, "", "1", series("none", "outage_refused")},
		"admitted, by counts of its own": {
			ratelimit.Verdict{Admitted: true, Outage: true, At: time.Now(), Results: []ratelimit.Result{{Policy: policy, Limit: 100, Remaining: 1}}},
			http.StatusOK, "100", "", series("none", "outage_admitted"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := g.Metric(t, c.series)
			l.set(func(l *fakeLimiter) { l.away, l.verdict = errAway, &c.verdict })
			p := expect(t, g.Call(t, http.MethodGet, "/read", bearer), c.status)
			if p.Header.Get("X-Ratelimit-Limit") != c.limit || p.Header.Get("Retry-After") != c.retry || c.limit == "" && p.Header.Get("X-Ratelimit-Remaining") != "" {
				t.Errorf("%v", p.Header)
			}
			if got := g.Metric(t, c.series) - before; got != 1 {
				t.Errorf("%s rose by %v", c.series, got)
			}
		})
	}
}

// What a placeholder gives may be a credential, and the keys of a limiter elsewhere are
// read by whoever may look there.
func TestLimiterSubjectsAreHashed(t *testing.T) {
	g, _, _, l := start(t, with("$POLICY", `by key {http.request.header.X-Api-Key} 2 1h
		by pair "{http.request.host} {http.request.header.X-Api-Key}" 100 1h`))
	bearer := token(t, g)
	call := func(key string) int {
		t.Helper()
		return harness.Send(t, http.DefaultClient, http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+bearer, "X-Api-Key", key).Status
	}
	const key, other = "sk_live_0123456789", "sk_live_9876543210"
	for _, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		if got := call(key); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	if got := call(other); got != http.StatusOK {
		t.Errorf("another key: %d", got)
	}
	l.set(func(l *fakeLimiter) {
		distinct := map[string]bool{}
		for _, s := range l.subjects {
			distinct[s] = true
			if strings.Contains(s, "sk_live") || strings.Contains(s, "localhost") || len(s) != 32 {
				t.Errorf("%q", s)
			}
		}
		if len(l.subjects) != 8 || len(distinct) != 4 {
			t.Errorf("%d subjects, %d of them distinct", len(l.subjects), len(distinct))
		}
		l.subjects = nil
	})
	if got := call(""); got != http.StatusOK {
		t.Errorf("without a key: %d", got)
	}
	l.set(func(l *fakeLimiter) {
		if len(l.subjects) != 1 { // the text around the placeholder remains
			t.Errorf("%q", l.subjects)
		}
	})
}
