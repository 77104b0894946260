package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const limitShown = "{http.api_limit.policy}|{http.api_limit.by}|{http.api_limit.limit}|{http.api_limit.remaining}|{http.api_limit.retry_after}|{http.api_limit.result}"

// shownSite has the placeholders in requests to the API, in answers and in the answers to refused
// requests.
func shownSite(global string) string {
	return strings.NewReplacer(
		"reverse_proxy $UPSTREAM\n", "reverse_proxy $UPSTREAM {\n\t\theader_up X-Shown \""+limitShown+"\"\n\t}\n\theader >X-Reset {http.api_limit.reset}\n",
		"\tapi_errors\n", "\thandle_errors {\n\t\trespond \"refused: "+limitShown+"\" {err.status_code}\n\t}\n",
		"\tgatehouse {\n", global+"\tgatehouse {\n",
	).Replace(limited(site, "by per-tenant {http.request.header.X-Tenant} 1 1h\n\t\tclient 3 1h\n\t\texempt other"))
}

func TestPlaceholdersExposeTheLimitDecision(t *testing.T) {
	g, up := startSite(t, shownSite(""))
	access, _ := tokens(t, g, web)
	ask := func(header ...string) harness.Page {
		t.Helper()
		return harness.Send(t, http.DefaultClient, http.MethodGet, g.API+"/read", "", append(header, "Authorization", "Bearer "+access)...)
	}
	shown := func() string {
		t.Helper()
		hits := up.Hits()
		if len(hits) != 1 {
			t.Fatalf("%d requests came through", len(hits))
		}
		return hits[0].Header.Get("X-Shown")
	}
	p := ask()
	if reset, err := strconv.ParseInt(p.Header.Get("X-Reset"), 10, 64); err != nil || reset < time.Now().Unix() || p.Header.Get("X-Ratelimit-Reset") != p.Header.Get("X-Reset") {
		t.Errorf("%v", p.Header)
	}
	if got := shown(); got != "client|client|3|2||admitted" {
		t.Errorf("admitted: %q", got)
	}
	ask("X-Tenant", "a")
	if got := shown(); got != "per-tenant|custom|1|0||admitted" {
		t.Errorf("admitted by a key: %q", got)
	}
	p = ask("X-Tenant", "a")
	want := "refused: per-tenant|custom|1|0|" + p.Header.Get("Retry-After") + "|refused"
	if p.Status != http.StatusTooManyRequests || p.Body != want {
		t.Errorf("refused: %d %q, expected %q", p.Status, p.Body, want)
	}
	// In front of any limit, and without one, they are empty.
	p = harness.Send(t, http.DefaultClient, http.MethodGet, g.API+"/read", "", "Authorization", "Bearer x.y.z")
	if p.Status != http.StatusUnauthorized || p.Body != "refused: |||||" {
		t.Errorf("before the limit: %d %q", p.Status, p.Body)
	}
	exempt, _ := tokens(t, g, other, "scope", "read")
	if p := g.Call(t, http.MethodGet, "/read", exempt); p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	if got := shown(); got != "|||||" {
		t.Errorf("exempt: %q", got)
	}
	for series, want := range map[string]float64{`policy="per-tenant",result="refused"`: 1, `policy="per-tenant",result="admitted"`: 1, `policy="client",result="admitted"`: 1} {
		if got := g.Metric(t, "caddy_gatehouse_limit_decisions_total{"+series+"}"); got < want {
			t.Errorf("%s: %v", series, got)
		}
	}
}

func TestLimitRefusalEmitsACaddyEvent(t *testing.T) {
	g, _ := startSite(t, shownSite("\tevents {\n\t\ton gatehouse_limit_exceeded test_keep\n\t}\n"))
	access, _ := tokens(t, g, web)
	for range 2 {
		harness.Send(t, http.DefaultClient, http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+access, "X-Tenant", "b")
	}
	var got caddy.Event
	for deadline := time.Now().Add(10 * time.Second); got.Name() == "" && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		kept.Lock()
		for _, e := range kept.events {
			if e.Name() == "gatehouse_limit_exceeded" {
				got = e
			}
		}
		kept.Unlock()
	}
	if got.Name() == "" {
		t.Fatal("no event")
	}
	want := map[string]any{
		"policy": "per-tenant", "by": "custom", "limit": int64(1), "remaining": int64(0), "result": "refused",
		"client": "web", "subject": "u-1", "ip": "127.0.0.1",
	}
	for name, value := range want {
		if got.Data[name] != value {
			t.Errorf("%s is %v, expected %v", name, got.Data[name], value)
		}
	}
	if id := got.Origin().CaddyModule().ID; id != "http.handlers.gatehouse_limit" {
		t.Errorf("from %s", id)
	}
	for _, name := range []string{"reset", "retry_after", "request_id"} {
		if got.Data[name] == nil {
			t.Errorf("no %s in %v", name, got.Data)
		}
	}
}
