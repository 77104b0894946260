package lifecycle

import (
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestTwoHandlersOfEachKindWorkInOneConfig(t *testing.T) {
	g, _ := prepare(t)
	g.Start(t, with())
	bearer := token(t, g)
	expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK)

	// A second site with a server, a guard and a limiter of its own.
	address := fmt.Sprintf("localhost:%d", harness.FreePorts(t, 1)[0])
	g.Load(t, with("$MAX", "50")+strings.NewReplacer("$SECOND", address).Replace(`
http://$SECOND {
	@id path /.well-known/*
	oauth_server @id
	api_errors
	oauth_guard
	api_limit {
		all 7 1h
		limiter second
	}
	reverse_proxy $UPSTREAM
}
`))
	first := expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK)
	other := &harness.Gateway{API: "http://" + address}
	second := expect(t, other.Call(t, http.MethodGet, "/anything", bearer), http.StatusOK)
	if a, b := first.Header.Get("X-Ratelimit-Limit"), second.Header.Get("X-Ratelimit-Limit"); a != "50" || b != "7" {
		t.Errorf("limits %s and %s, want 50 and 7", a, b)
	}
	expect(t, other.Call(t, http.MethodGet, "/.well-known/jwks.json", ""), http.StatusOK)
	m := g.Scrape(t)
	for _, line := range []string{`caddy_gatehouse_guard_decisions_total{reason="valid"} `, `caddy_gatehouse_token_requests_total{grant="client_credentials",outcome="issued"} `} {
		if !strings.Contains(m, line) {
			t.Errorf("no %s in\n%s", line, m)
		}
	}
}

func TestMetricsSurviveAReload(t *testing.T) {
	g, _ := prepare(t)
	g.Start(t, with())
	bearer := token(t, g)
	before := g.Metric(t, `caddy_gatehouse_guard_decisions_total{reason="valid"}`)
	expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK)
	for range 3 {
		g.Load(t, with())
	}
	p := expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK)
	if got := g.Metric(t, `caddy_gatehouse_guard_decisions_total{reason="valid"}`); got != before+2 {
		t.Errorf("counted %v, want %v", got, before+2)
	}
	if got := p.Header.Get("X-Ratelimit-Remaining"); got != "98" {
		t.Errorf("the limiter forgot: remaining %s, want 98", got)
	}
	// A changed limit is in force at once and keeps the counts.
	g.Load(t, with("$MAX", "3"))
	if got := expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK).Header.Get("X-Ratelimit-Remaining"); got != "0" {
		t.Errorf("remaining %s, want 0", got)
	}
	expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusTooManyRequests)
}

func TestValidateHasNoSideEffects(t *testing.T) {
	g, _ := prepare(t)
	goroutines := runtime.NumGoroutine()
	for range 5 {
		if err := validate(t, g, with()); err != nil {
			t.Fatal(err)
		}
	}
	if exists(filepath.Join(g.Dir, "state.db")) {
		t.Error("validating made the database")
	}
	settle(t, goroutines)

	g.Start(t, with())
	bearer := token(t, g)
	begun := time.Now()
	if err := validate(t, g, with("$STORE", "other.db")); err != nil {
		t.Fatal(err)
	}
	if err := validate(t, g, with()); err != nil {
		t.Fatal("beside a running gateway on the same file:", err)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("validating waited %v, as if for the lock of the database", took)
	}
	if exists(filepath.Join(g.Dir, "other.db")) {
		t.Error("validating made the database")
	}
	expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK)
}

func TestFailedProvisionReleasesExactlyWhatItTook(t *testing.T) {
	g, _ := prepare(t)
	g.Start(t, with())
	bearer := token(t, g)
	goroutines := runtime.NumGoroutine()
	for range 20 {
		if err := g.TryLoad(with("$SITE", "test_broken")); err == nil || !strings.Contains(err.Error(), "broken on purpose") {
			t.Fatalf("loaded a broken handler: %v", err)
		}
		if err := g.TryLoad(strings.Replace(with(), "store bolt $DIR/state.db", "store broken", 1)); err == nil || !strings.Contains(err.Error(), "broken on purpose") {
			t.Fatalf("loaded a broken store: %v", err)
		}
		expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK) // the old one goes on
	}
	settle(t, goroutines)
	token(t, g)
	g.Load(t, with())
	expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK)
	token(t, g)
}

func TestStoreClosesWithTheLastConfiguration(t *testing.T) {
	g, _ := prepare(t)
	g.Start(t, with())
	bearer := token(t, g)
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	g.Load(t, with()) // opens the file anew: were it still open, this would fail
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("starting again took %v", took)
	}
	expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK)
}

func TestRequestInFlightFinishesAcrossAReload(t *testing.T) {
	for name, next := range map[string]string{
		"of the same store":    with("$MAX", "99"),
		"that moves the store": with("$STORE", "elsewhere.db"),
	} {
		t.Run(name, func(t *testing.T) {
			g, up := prepare(t)
			g.Start(t, with())
			bearer := token(t, g)
			arrived, release := make(chan struct{}), make(chan struct{})
			up.Answer(func(w http.ResponseWriter, r *http.Request) {
				close(arrived)
				<-release
				w.WriteHeader(http.StatusOK)
			})
			done := make(chan int)
			go func() { done <- g.Call(t, http.MethodGet, "/slow", bearer).Status }()
			<-arrived
			up.Answer(nil)
			g.Load(t, next)
			close(release)
			if status := <-done; status != http.StatusOK {
				t.Errorf("the request in flight got %d", status)
			}
			// On another store these are other keys, so the old token is not valid there.
			token(t, g)
		})
	}
}

func TestBadConfigLeavesTheOldOneServing(t *testing.T) { // O02
	g, _ := prepare(t)
	g.Start(t, with())
	bearer := token(t, g)
	for _, bad := range []string{
		with("$GLOBAL", "client machine {\n\t\t\tpublic\n\t\t}"),
		with("$GLOBAL", "client late {\n\t\t\tsecret {env.GATEHOUSE_TEST_UNSET}\n\t\t}"),
		with("$GLOBAL", "users file $DIR/missing.json"),
	} {
		err := g.TryLoad(bad)
		if err == nil {
			t.Fatal("loaded a bad configuration")
		}
		t.Log(err)
		expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK)
	}
	err := g.TryLoad(with("$GLOBAL", "client late {\n\t\t\tsecret {env.GATEHOUSE_TEST_UNSET}\n\t\t}"))
	if err == nil || !strings.Contains(err.Error(), "client late") {
		t.Errorf("an unset secret must fail and name its client: %v", err)
	}
}

func TestStoredConfigHasNoSecret(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_SECRET", "env-secret-0123456789-0123456789-0123456789")
	g, _ := prepare(t)
	text := with("$GLOBAL", "secret {env.GATEHOUSE_TEST_SECRET}\n\t\tclient late {\n\t\t\tsecret {env.GATEHOUSE_TEST_SECRET}\n\t\t}")
	g.Start(t, text)
	for where, dump := range map[string]string{"/config/": body(t, g.Admin+"/config/"), "metrics": g.Scrape(t)} {
		for _, secret := range []string{machine.Secret, "env-secret-0123456789"} {
			if strings.Contains(dump, secret) {
				t.Errorf("%s shows a secret", where)
			}
		}
	}
}
