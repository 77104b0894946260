package soak

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// post loads a Caddyfile through the admin endpoint.
func (s *site) post(config string) (answer, error) {
	r, err := http.NewRequest(http.MethodPost, s.Admin+"/load", strings.NewReader(s.Text(config)))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "text/caddyfile")
	return send(once, r)
}

// once takes a new connection for each request.
var once = &http.Client{
	Timeout:   30 * time.Second,
	Transport: patient{&http.Transport{DisableKeepAlives: true}, new(atomic.Int64)},
}

// fetch gets an address that may be changing hands.
func fetch(t *testing.T, address string) answer {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := send(once, r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// reload is post, which must succeed.
func (s *site) reload(t *testing.T, config string) {
	t.Helper()
	if a, err := s.post(config); err != nil || a.status != http.StatusOK {
		t.Fatal("reload:", a, err)
	}
}

// version is the configuration that serves.
func (s *site) version(t *testing.T) string {
	t.Helper()
	return fetch(t, s.API+"/public/version").header.Get("X-Version")
}

// number finds one in a text.
func number(t *testing.T, pattern, text string) int {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in %.500s", pattern, text)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *site) profile(t *testing.T) string {
	t.Helper()
	return string(fetch(t, s.Admin+"/debug/pprof/goroutine?debug=1").body)
}

func (s *site) goroutines(t *testing.T) int {
	t.Helper()
	return number(t, `goroutine profile: total (\d+)`, s.profile(t))
}

func (s *site) judged(t *testing.T) int {
	t.Helper()
	return number(t, `caddy_gatehouse_guard_decisions_total\{reason="valid"\} (\d+)`, string(fetch(t, s.Admin+"/metrics").body))
}

// broken are configurations that must change nothing.
func (s *site) broken() []string {
	return []string{
		s.config("$TOKENS", "access soon"),
		s.config("$LIMIT", "client 0 1h"),
		s.config("$CLIENTS", "client web {\n secret web-secret-0123456789-0123456789-0123456789\n }"),
		s.config("$STORE", "$DIR/users.json/state.db", "$VERSION", "broken"),
		strings.Replace(s.config(), "public GET", "scope undeclared", 1),
	}
}

// E19, O02: broken configurations come between the good ones.
func TestReloadsUnderLoadAreNotNoticed(t *testing.T) {
	s := newSite(t)
	config := s.config()
	p := s.Run(t, config)
	// What is made once has been made before the goroutines are counted.
	warm := startLoad(t, s)
	s.reload(t, s.config("$VERSION", "warm"))
	time.Sleep(200 * time.Millisecond)
	warm.stop()
	before := s.settled(t, 0)

	l := startLoad(t, s)
	judged := s.judged(t)
	broken := s.broken()
	reloads := times(10, 50)
	var slowest time.Duration
	begun := time.Now()
	for n := 1; n <= reloads && !t.Failed(); n++ {
		version := strconv.Itoa(n)
		next := s.config("$VERSION", version)
		at := time.Now()
		if n%5 == 3 {
			s.reloadByCommand(t, next)
		} else {
			s.reload(t, next)
			slowest = max(slowest, time.Since(at))
		}
		if got := s.version(t); got != version {
			t.Errorf("version %s serves after the reload of %s", got, version)
		}
		if n%2 == 0 {
			if a, err := s.post(broken[n/2%len(broken)]); err != nil || a.status == http.StatusOK {
				t.Errorf("a broken configuration was taken: %v %v", a, err)
			}
			if got := s.version(t); got != version {
				t.Errorf("version %s serves after a broken configuration", got)
			}
		}
		now := s.judged(t)
		if now < judged {
			t.Errorf("the counter of the guard went from %d to %d", judged, now)
		}
		judged = now
		time.Sleep(time.Duration(1+n%4) * 150 * time.Millisecond)
	}
	took := time.Since(begun)
	l.stop()
	if all := l.reads.Load() + l.slowReads.Load(); int64(s.judged(t)) < all {
		t.Errorf("the guard counted %d requests of at least %d", s.judged(t), all)
	}
	after := s.settled(t, before+5)
	if after > before+5 {
		t.Errorf("%d goroutines after the reloads, %d before: %.6000s", after, before, s.profile(t))
	}
	if slowest > 2*time.Second {
		t.Errorf("a reload took %v", slowest)
	}
	t.Logf("%d reloads in %v (the slowest %v) under %v; goroutines %d, then %d", reloads, took, slowest, l, before, after)
	// A panic hangs up too.
	if out := p.Output(); t.Failed() || strings.Contains(out, "panic") {
		t.Error(out)
	}
	p.Stop()
}

// settled is the number of goroutines once it is at most wanted, or does not shrink
// any more: what ran under an old configuration takes its time to end.
func (s *site) settled(t *testing.T, wanted int) int {
	t.Helper()
	least := s.goroutines(t)
	for quiet := 0; quiet < 30 && least > wanted; quiet++ {
		time.Sleep(50 * time.Millisecond)
		if n := s.goroutines(t); n < least {
			least, quiet = n, 0
		}
	}
	return least
}

func (s *site) reloadByCommand(t *testing.T, config string) {
	t.Helper()
	file := s.WriteFile(t, "Caddyfile", s.Text(config))
	cmd := exec.Command(harness.Program(t), "reload", "--config", file, "--adapter", "caddyfile", "--address", strings.TrimPrefix(s.Admin, "http://"))
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+s.Dir, "XDG_CONFIG_HOME="+s.Dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("caddy reload: %v: %s", err, out)
	}
}

func TestAReloadMayChangeAnything(t *testing.T) {
	s := newSite(t)
	p := s.Run(t, s.config("$LIMIT", "client 100 1h"))
	browser := s.signIn(t)
	f := s.grant(t, browser)
	machine := s.machine(t)
	for range 10 {
		if a, err := s.read("/read", f.access); expect(a, err, http.StatusOK) != nil {
			t.Fatal(a, err)
		}
	}

	t.Run("the numbers of a limit, at once and with what was counted", func(t *testing.T) { // L14
		s.reload(t, s.config("$LIMIT", "client 12 1h"))
		for n, want := range []int{200, 200, 429} {
			if a, err := s.read("/read", f.access); expect(a, err, want) != nil {
				t.Errorf("request %d of 12: %v %v", n+11, a, err)
			}
		}
		s.reload(t, s.config("$LIMIT", "client 100 1h"))
		a, err := s.read("/read", f.access)
		if expect(a, err, http.StatusOK) != nil || a.header.Get("X-RateLimit-Remaining") != "87" {
			t.Errorf("%v %v %v", a, a.header, err)
		}
	})

	t.Run("the lifetimes of tokens, for those issued from then on", func(t *testing.T) {
		s.reload(t, s.config("$TOKENS", "access 2s"))
		a, err := s.refresh(f.refresh)
		if expect(a, err, http.StatusOK) != nil || !strings.Contains(string(a.body), `"expires_in":2`) {
			t.Fatal(a, err)
		}
		short := a.field("access_token")
		f.refresh = a.field("refresh_token")
		if a, err := s.read("/read", short); expect(a, err, http.StatusOK) != nil {
			t.Error(a, err)
		}
		time.Sleep(2100 * time.Millisecond)
		if a, err := s.read("/read", short); expect(a, err, http.StatusUnauthorized) != nil {
			t.Error("after its life:", a, err)
		}
		if a, err := s.read("/read", f.access); expect(a, err, http.StatusOK) != nil {
			t.Error("an older token with a longer life:", a, err)
		}
	})

	t.Run("the store: nothing of one is known under the other, and all is back with it", func(t *testing.T) {
		s.reload(t, s.config("$STORE", "$DIR/other.db"))
		if a, err := s.read("/read", f.access); expect(a, err, http.StatusUnauthorized) != nil {
			t.Error("a token of the other store:", a, err)
		}
		if _, err := s.code(browser); err == nil {
			t.Error("a session of the other store")
		}
		fresh := s.grant(t, s.signIn(t))
		if a, err := s.read("/read", fresh.access); expect(a, err, http.StatusOK) != nil {
			t.Error(a, err)
		}
		s.reload(t, s.config())
		if a, err := s.read("/read", f.access); expect(a, err, http.StatusOK) != nil {
			t.Error("back at the store:", a, err)
		}
		if a, err := s.read("/read", fresh.access); expect(a, err, http.StatusUnauthorized) != nil {
			t.Error("a token of the other store:", a, err)
		}
		if _, err := s.code(browser); err != nil {
			t.Error("the session, back at its store:", err)
		}
	})

	t.Run("a client that is removed is nobody, and its tokens die", func(t *testing.T) {
		config := s.config()
		begin, end := strings.Index(config, "\t\tclient machine"), strings.Index(config, "http://$ID {")
		without := config[:begin] + "\t}\n}\n" + config[end:]
		s.reload(t, without)
		page := s.Token(t, harness.Credentials{ID: "machine", Secret: "machine-secret-0123456789-0123456789-012345"},
			map[string][]string{"grant_type": {"client_credentials"}, "scope": {"read"}})
		if page.Status != http.StatusUnauthorized || !strings.Contains(page.Body, "invalid_client") {
			t.Error("a removed client:", page.Status, page.Body)
		}
		s.dies(t, machine)
		if a, err := s.read("/read", f.access); expect(a, err, http.StatusOK) != nil {
			t.Error("another client's token:", a, err)
		}
	})
	if t.Failed() {
		t.Log(p.Output())
	}
	p.Stop()
}
