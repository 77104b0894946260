package outage

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// errAway quotes an address with a password in it, as no plugin should.
var errAway = errors.New(`dial redis://gate:hunter2@10.0.0.5:6379/0: connection refused`)

func get(t *testing.T, address string) harness.Page {
	t.Helper()
	return harness.Send(t, http.DefaultClient, http.MethodGet, address, "")
}

// part is what the admin endpoint says of one.
func part(t *testing.T, p harness.Page, name string) (state, message string, stale any) {
	t.Helper()
	parts, _ := p.JSON(t)["parts"].([]any)
	for _, each := range parts {
		if m, _ := each.(map[string]any); m["part"] == name {
			state, _ = m["state"].(string)
			message, _ = m["message"].(string)
			return state, message, m["stale_seconds"]
		}
	}
	t.Fatalf("no part %s in %s", name, p.Body)
	return "", "", nil
}

const publicReady = `{"status":"ready","parts":{"keys":"ok","limiter":"ok","revocations":"ok","store":"ok"}}`

func TestNodeWithoutStoreIsNotReadyButAlive(t *testing.T) { // O08
	g, up, m, _ := start(t, with())
	token(t, g)
	live := func() {
		t.Helper()
		for _, address := range []string{g.ID + "/live", g.API + "/livez"} {
			if p := expect(t, get(t, address), http.StatusOK); strings.TrimSpace(p.Body) != `{"status":"live"}` {
				t.Errorf("%s: %s", address, p.Body)
			}
		}
	}
	for _, address := range []string{g.ID + "/ready", g.API + "/healthz"} {
		p := expect(t, get(t, address), http.StatusOK)
		if strings.TrimSpace(p.Body) != publicReady || p.Header.Get("Cache-Control") != "no-store" || p.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s %v", address, p.Body, p.Header)
		}
	}
	inside := expect(t, get(t, g.Admin+"/gatehouse/ready"), http.StatusOK)
	if state, message, _ := part(t, inside, "store"); state != "ok" || message != "" {
		t.Errorf("%s", inside.Body)
	}
	if state, _, stale := part(t, inside, "revocations"); state != "ok" || stale != 0.0 {
		t.Errorf("%s", inside.Body)
	}
	expect(t, get(t, g.Admin+"/ready"), http.StatusNotFound) // nothing of ours is outside of /gatehouse/
	live()

	m.Fail(errAway)
	p := eventually(t, http.StatusServiceUnavailable, func() harness.Page { return get(t, g.Admin+"/gatehouse/ready") })
	if state, message, _ := part(t, p, "store"); state != "failing" || !strings.Contains(message, "connection refused") {
		t.Errorf("%s", p.Body)
	}
	if p.JSON(t)["ready"] != false || p.Header.Get("Retry-After") != "1" {
		t.Errorf("%s %v", p.Body, p.Header)
	}
	for _, address := range []string{g.ID + "/ready", g.API + "/healthz"} {
		public := expect(t, get(t, address), http.StatusServiceUnavailable)
		if public.JSON(t)["status"] != "unavailable" || public.Header.Get("Retry-After") != "1" || !strings.Contains(public.Body, `"store":"failing"`) {
			t.Errorf("%s: %s", address, public.Body)
		}
		if strings.Contains(public.Body, "10.0.0.5") || strings.Contains(public.Body, "refused") {
			t.Errorf("the public is told what is wrong: %s", public.Body)
		}
	}
	if strings.Contains(p.Body, "hunter2") {
		t.Errorf("a password is shown: %s", p.Body)
	}
	live()

	// 30 s later it would be, with this site's revocation_max_stale 1 s.
	p = eventually(t, http.StatusServiceUnavailable, func() harness.Page {
		p := get(t, g.Admin+"/gatehouse/ready")
		if state, _, _ := part(t, p, "revocations"); state != "failing" {
			p.Status = 0
		}
		return p
	})
	if _, _, stale := part(t, p, "revocations"); stale == nil || stale.(float64) < 1 {
		t.Errorf("%s", p.Body)
	}
	if g.Metric(t, "caddy_gatehouse_store_up") != 0 || g.Metric(t, "caddy_gatehouse_revocation_staleness_seconds") < 1 {
		t.Error(g.Scrape(t))
	}
	m.Fail(nil)
	eventually(t, http.StatusOK, func() harness.Page { return get(t, g.API+"/healthz") })
	if g.Metric(t, "caddy_gatehouse_store_up") != 1 || g.Metric(t, "caddy_gatehouse_revocation_staleness_seconds") != 0 {
		t.Error(g.Scrape(t))
	}
	if n := len(up.Hits()); n != 0 {
		t.Errorf("%d probes reached the API", n)
	}
}

func TestOtherRequestsBypassTheHealthHandler(t *testing.T) {
	g, _, _, _ := start(t, with())
	for _, c := range []struct {
		method, address string
		status          int
	}{
		{http.MethodHead, g.API + "/healthz", 200}, {http.MethodPost, g.API + "/healthz", 405}, {http.MethodDelete, g.ID + "/live", 405},
		{http.MethodGet, g.API + "/ready", 403}, {http.MethodGet, g.API + "/healthz/", 403}, {http.MethodGet, g.API + "/public", 200},
		{http.MethodGet, g.ID + "/healthz", 404}, {http.MethodGet, g.ID + "/ready?x=1", 200},
	} {
		p := harness.Send(t, http.DefaultClient, c.method, c.address, "")
		if p.Status != c.status || c.method == http.MethodHead && p.Body != "" || c.status == 405 && p.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s %s: %d %v %s", c.method, c.address, p.Status, p.Header, p.Body)
		}
	}
}

func TestMatcherRestrictsReadinessEndpoint(t *testing.T) {
	g, _, _, _ := start(t, strings.Replace(with(), ownPaths, "\t@internal header X-Internal 1\n\tgatehouse_health @internal {\n\t\tready /healthz\n\t}\n", 1))
	for path, status := range map[string]int{"/healthz": http.StatusOK, "/live": http.StatusOK, "/ready": http.StatusForbidden} {
		expect(t, get(t, g.API+path), http.StatusForbidden) // the guard's answer
		expect(t, harness.Send(t, http.DefaultClient, http.MethodGet, g.API+path, "", "X-Internal", "1"), status)
	}
}

func TestReadinessIsUnchangedBehindAPIErrors(t *testing.T) {
	g, _, m, _ := start(t, strings.NewReplacer(
		ownPaths+"\tapi_errors\n", "\troute {\n\t\tapi_errors\n"+ownPaths,
		"\treverse_proxy $UPSTREAM\n", "\treverse_proxy $UPSTREAM\n\t}\n",
	).Replace(with()))
	m.Fail(errAway)
	p := eventually(t, http.StatusServiceUnavailable, func() harness.Page { return get(t, g.API+"/healthz") })
	if p.JSON(t)["status"] != "unavailable" {
		t.Errorf("%s", p.Body)
	}
}

func TestHandlersDecideOnLimiterOutage(t *testing.T) {
	for outage, want := range map[string]struct {
		status int
		state  string
	}{
		"":                 {http.StatusOK, "degraded"},
		"on_outage local":  {http.StatusOK, "degraded"},
		"on_outage open":   {http.StatusOK, "degraded"},
		"on_outage closed": {http.StatusServiceUnavailable, "failing"},
	} {
		t.Run(outage, func(t *testing.T) {
			g, _, _, l := start(t, with("$OUTAGE", outage))
			expect(t, get(t, g.Admin+"/gatehouse/ready"), http.StatusOK)
			if g.Metric(t, "caddy_gatehouse_limiter_up") != 1 {
				t.Error("the limiter is up")
			}
			l.set(func(l *fakeLimiter) { l.away = errAway })
			p := expect(t, get(t, g.Admin+"/gatehouse/ready"), want.status)
			state, message, _ := part(t, p, "limiter")
			if state != want.state || p.JSON(t)["state"] != want.state || !strings.Contains(message, "refused") || strings.Contains(message, "hunter2") {
				t.Errorf("%s", p.Body)
			}
			if public := expect(t, get(t, g.API+"/healthz"), want.status); !strings.Contains(public.Body, `"limiter":"failing"`) {
				t.Errorf("%s", public.Body)
			}
			if g.Metric(t, "caddy_gatehouse_limiter_up") != 0 {
				t.Error("the limiter is away")
			}
		})
	}
}

func TestReadinessProbesAreCachedUnderLoad(t *testing.T) {
	g, _, _, _ := start(t, with())
	const series = `caddy_gatehouse_store_operations_total{operation="get",result="miss"}`
	before, begun := g.Metric(t, series), time.Now()
	var asked atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for i := 0; time.Since(begun) < 1500*time.Millisecond; i++ {
				asked.Add(1)
				address := g.API + "/healthz"
				if i%4 == 0 {
					address = g.Admin + "/gatehouse/ready"
				}
				if p := get(t, address); p.Status != http.StatusOK {
					t.Errorf("%d %s", p.Status, p.Body)
				}
			}
		})
	}
	all.Wait()
	if n, most := g.Metric(t, series)-before, time.Since(begun).Seconds()+2; n < 1 || n > most || asked.Load() < 200 {
		t.Errorf("%v reads of the store for %d probes, want at most %v", n, asked.Load(), most)
	}
}

func TestAdminReadinessRefusesForwardedRequests(t *testing.T) {
	g, _, _, _ := start(t, with())
	for name, value := range map[string]string{"X-Forwarded-For": "192.0.2.1", "Origin": "https://evil.example", "Sec-Fetch-Site": "none"} {
		p := harness.Send(t, http.DefaultClient, http.MethodGet, g.Admin+"/gatehouse/ready", "", name, value)
		if p.Status != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, p.Status, p.Body)
		}
	}
	expect(t, harness.Send(t, http.DefaultClient, http.MethodPost, g.Admin+"/gatehouse/ready", ""), http.StatusMethodNotAllowed)
	expect(t, get(t, g.Admin+"/gatehouse/ready?verbose"), http.StatusBadRequest)
	g.Load(t, "{\n"+harness.Quiet+"\n}\nhttp://$API {\n\trespond hello\n}\n")
	p := expect(t, get(t, g.Admin+"/gatehouse/ready"), http.StatusServiceUnavailable)
	if !strings.Contains(p.Body, "not_configured") || strings.Contains(g.Scrape(t), "gatehouse_store_up") {
		t.Errorf("%s", p.Body)
	}
}

// A node with another secret than the one that sealed the signing keys serves guards and
// cannot issue a token: a mistake that every node but one may make.
func TestNodeWithAnotherSecretIsNotReady(t *testing.T) {
	g, _, _, _ := start(t, with())
	token(t, g)
	t.Setenv("GATEHOUSE_TEST_SECRET", "another secret of the tests, 0123456789")
	g.Load(t, with())
	p := expect(t, get(t, g.Admin+"/gatehouse/ready"), http.StatusServiceUnavailable)
	if state, message, _ := part(t, p, "keys"); state != "failing" || !strings.Contains(message, "another secret") {
		t.Errorf("%s", p.Body)
	}
}
