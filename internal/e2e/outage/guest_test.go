package outage

import (
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func validateJSON(t *testing.T, raw string) error {
	t.Helper()
	var cfg caddy.Config
	if err := json.Unmarshal([]byte(raw), &cfg); err != nil {
		t.Fatal(err)
	}
	return caddy.Validate(&cfg)
}

func validate(t *testing.T, g *harness.Gateway, text string) error {
	t.Helper()
	raw, err := g.Adapt(text)
	if err != nil {
		return err
	}
	return validateJSON(t, string(raw))
}

func TestInvalidLimiterPluginFailsValidation(t *testing.T) {
	g, _, _, l := prepare(t)
	before := runtime.NumGoroutine()
	for text, want := range map[string]string{
		with("$LIMITER", "fake alone"): "shares nothing with that store",
		with("$LIMITER", "not_one"):    "is not a limiter",
		strings.Replace(with(), "\t\tsecret {env.GATEHOUSE_TEST_SECRET}\n", "", 1): "set the global option `secret`",
	} {
		for range 3 {
			if err := validate(t, g, text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	for range 3 {
		if err := validate(t, g, with()); err != nil {
			t.Error(err)
		}
	}
	if l.opened("") != 0 {
		t.Error("checking a configuration opens the limiter")
	}
	settle(t, before)
}

func TestLimiterThatCannotOpenFailsTheLoad(t *testing.T) {
	g, _, _, l := start(t, with())
	bearer := token(t, g)
	l.set(func(l *fakeLimiter) { l.broken = errors.New("no such certificate") })
	for range 3 {
		if err := g.TryLoad(with("$LIMITER", "fake b")); err == nil || !strings.Contains(err.Error(), "opening the limiter: no such certificate") {
			t.Fatalf("%v", err)
		}
		expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
	}
	l.set(func(l *fakeLimiter) { l.broken = nil })
	g.Load(t, with("$LIMITER", "fake b"))
	expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
}

// A server that is away is no fault of a configuration.
func TestLoadDoesNotWaitForAnUnavailableLimiter(t *testing.T) {
	g, _, _, l := prepare(t)
	l.set(func(l *fakeLimiter) { l.away = errAway })
	begun := time.Now()
	g.Start(t, with())
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("%v", took)
	}
}

func TestReloadKeepsTheLimiterAndItsCounts(t *testing.T) {
	g, _, _, l := start(t, with())
	bearer := token(t, g)
	expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
	for range 3 {
		g.Load(t, with("$OUTAGE", "on_outage open"))
		g.Load(t, with())
	}
	if p := expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK); p.Header.Get("X-Ratelimit-Remaining") != "98" {
		t.Errorf("%v", p.Header)
	}
	l.set(func(l *fakeLimiter) {
		if l.open[""] != 1 || l.closed[""] != 0 {
			t.Errorf("opened %d times, closed %d", l.open[""], l.closed[""])
		}
	})
}

func TestOldLimiterClosesAfterItsLastRequest(t *testing.T) {
	g, up, _, l := start(t, with("$LIMITER", "fake a"))
	bearer := token(t, g)
	arrived, release := make(chan struct{}), make(chan struct{})
	up.Answer(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-release
	})
	slow := make(chan int)
	go func() { slow <- g.Call(t, http.MethodGet, "/slow", bearer).Status }()
	<-arrived
	up.Answer(nil)
	g.Load(t, with("$LIMITER", "fake b"))
	expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
	if a, b := l.opened("a"), l.opened("b"); a != 1 || b != 1 {
		t.Errorf("with a request of the old configuration in flight a is open %d times, b %d", a, b)
	}
	close(release)
	if status := <-slow; status != http.StatusOK {
		t.Errorf("the slow request: %d", status)
	}
	for deadline := time.Now().Add(5 * time.Second); l.opened("a") != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the old limiter stays open")
		}
	}
	if l.opened("b") != 1 {
		t.Error("and the new one was closed")
	}
}

func TestFailedLoadsReleaseTheLimiter(t *testing.T) {
	g, _, _, l := start(t, with("$LIMITER", "fake a"))
	bearer := token(t, g)
	before := runtime.NumGoroutine()
	for range 5 {
		// The handler behind the app fails, when the app has taken hold of a new limiter.
		if err := g.TryLoad(with("$LIMITER", "fake c", "$SITE", "reverse_proxy nowhere:1 {\n\t\tlb_policy missing\n\t}")); err == nil {
			t.Fatal("loaded a handler that there is not")
		}
		if err := g.TryLoad(with("$LIMITER", "fake c", "$POLICY", "client 100 1h\n\t\texempt nobody")); err == nil {
			t.Fatal("loaded an exempt client that there is not")
		}
	}
	if l.opened("c") != 0 || l.opened("a") != 1 {
		t.Errorf("c is open %d times, a %d", l.opened("c"), l.opened("a"))
	}
	settle(t, before)
	expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
}

func TestReloadsUnderLoadLoseNoCount(t *testing.T) {
	g, _, _, _ := start(t, with("$POLICY", "client 100000 1h"))
	bearer := token(t, g)
	stop := make(chan struct{})
	var all sync.WaitGroup
	var mu sync.Mutex
	sent := 0
	for range 4 {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: false}}
			defer client.CloseIdleConnections()
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, err := http.NewRequest(http.MethodGet, g.API+"/read", nil)
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+bearer)
				res, err := client.Do(r)
				if err != nil {
					continue // a fresh connection to the listener that is being closed
				}
				_ = res.Body.Close()
				if res.StatusCode != http.StatusOK {
					t.Errorf("%d", res.StatusCode)
				}
				mu.Lock()
				sent++
				mu.Unlock()
			}
		})
	}
	for range 5 {
		g.Load(t, with("$POLICY", "client 100000 1h", "$OUTAGE", "on_outage open"))
		g.Load(t, with("$POLICY", "client 100000 1h"))
	}
	close(stop)
	all.Wait()
	p := expect(t, g.Call(t, http.MethodGet, "/read", bearer), http.StatusOK)
	var left int
	if err := json.Unmarshal([]byte(p.Header.Get("X-Ratelimit-Remaining")), &left); err != nil || 100000-left < sent+1 || sent < 100 {
		t.Errorf("%v: %d remain after %d requests", err, left, sent+1)
	}
}
