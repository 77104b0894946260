package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// limited is the site with one policy in place of the usual one.
func limited(site, policy string) string {
	return strings.Replace(site, "client 100000 1h", policy, 1)
}

// statuses counts answers.
func statuses(pages []harness.Page) map[int]int {
	n := map[int]int{}
	for _, p := range pages {
		n[p.Status]++
	}
	return n
}

// wantLimited is a refusal for lack of quota.
func wantLimited(t *testing.T, p harness.Page) {
	t.Helper()
	wantEnvelope(t, p, http.StatusTooManyRequests, "rate_limited")
	retry, err := strconv.Atoi(p.Header.Get("Retry-After"))
	reset, err2 := strconv.ParseInt(p.Header.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil || err2 != nil || retry < 1 || reset < time.Now().Unix() || p.Header.Get("X-Ratelimit-Remaining") != "0" {
		t.Errorf("%v", p.Header)
	}
}

func TestExactlyTheLimitPasses(t *testing.T) {
	g, up := startSite(t, limited(site, "client 40 10s"))
	access, _ := tokens(t, g, web)
	t.Run("L01 at once", func(t *testing.T) {
		pages := together(160, func() harness.Page { return g.Call(t, http.MethodGet, "/read", access) })
		if got := statuses(pages); got[200] != 40 || got[429] != 120 {
			t.Errorf("%v", got)
		}
		wantHits(t, up, 40)
		left := map[string]int{}
		for _, p := range pages {
			if p.Header.Get("X-Ratelimit-Limit") != "40" {
				t.Fatalf("%v", p.Header)
			}
			if p.Status == http.StatusOK {
				left[p.Header.Get("X-Ratelimit-Remaining")]++
			} else {
				wantLimited(t, p)
			}
		}
		if len(left) != 40 {
			t.Errorf("what remains is reported as %v", left)
		}
	})
	t.Run("L15 in a pipeline", func(t *testing.T) {
		second, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
		request := fmt.Sprintf("GET /read HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", strings.TrimPrefix(g.API, "http://"), second)
		if got := flood(t, g.API, 100, func(int) string { return request }); got[200] != 40 || got[429] != 60 {
			t.Errorf("%v", got)
		}
		wantHits(t, up, 40)
	})
	t.Run("L14 another limit by a reload", func(t *testing.T) {
		g.Load(t, limited(site, "client 45 10s"))
		pages := together(20, func() harness.Page { return g.Call(t, http.MethodGet, "/read", access) })
		if got := statuses(pages); got[200] != 5 { // what was counted is not forgotten
			t.Errorf("%v", got)
		}
		g.Load(t, limited(site, "client 20 10s"))
		p := g.Call(t, http.MethodGet, "/read", access)
		wantLimited(t, p)
		if p.Header.Get("X-Ratelimit-Limit") != "20" {
			t.Errorf("%v", p.Header)
		}
	})
}

func TestNoWindowHoldsMoreThanTheLimit(t *testing.T) {
	const limit, window = 8, 2 * time.Second
	g := startApart(t, limited(site, "client 8 2s"))
	access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	t.Parallel()
	// L03: a burst late in one window of the clock and early in the next, and L06: what
	// is refused meanwhile extends nothing.
	time.Sleep(time.Until(time.Now().Truncate(window).Add(window - 150*time.Millisecond)))
	var sent, done []time.Time
	// Of 8 in 2 s, a caller that never stops gets 8 at once and 8 again each time; a busy machine
	// may take its time over the last ones.
	const wanted = 2*limit + limit/2
	for begun := time.Now(); len(sent) < wanted && time.Since(begun) < 2*window+10*time.Second; time.Sleep(10 * time.Millisecond) {
		at := time.Now()
		if p := g.Call(t, http.MethodGet, "/read", access); p.Status == http.StatusOK {
			sent, done = append(sent, at), append(done, time.Now())
		}
	}
	for i := range sent {
		if i+limit < len(sent) && done[i+limit].Sub(sent[i]) < window {
			t.Errorf("L03: %d requests passed within %v", limit+1, done[i+limit].Sub(sent[i]))
		}
	}
	if len(sent) < wanted {
		t.Errorf("L06: only %d passed in two windows and ten seconds", len(sent))
	}
}

func TestCallersAreCountedSeparately(t *testing.T) { // L07
	from := func(t *testing.T, g *harness.Gateway, path, token, address string) int {
		t.Helper()
		return send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+path, "", "Authorization", "Bearer "+token, "X-Forwarded-For", address).Status
	}
	exhaust := func(t *testing.T, g *harness.Gateway, path, token, address string) {
		t.Helper()
		for i := range 4 {
			want := http.StatusOK
			if i == 3 {
				want = http.StatusTooManyRequests
			}
			if got := from(t, g, path, token, address); got != want {
				t.Fatalf("request %d: %d", i+1, got)
			}
		}
	}
	g, _, m := startFaulty(t)
	f := newForger(t, g, m)
	var users atomic.Int64
	user := func(client string) (token string) {
		return f.token(map[string]any{"sub": fmt.Sprintf("user-%d", users.Add(1)), "client_id": client})
	}
	load := func(policy string) { g.Load(t, limited(anybody, policy)) }
	t.Run("L07 client", func(t *testing.T) {
		load("client 3 1h")
		exhaust(t, g, "/read", user("web"), somebody())
		if got := from(t, g, "/read/x", user("web"), somebody()); got != http.StatusTooManyRequests {
			t.Errorf("another user, route and address: %d", got)
		}
		if got := from(t, g, "/read", user("other"), somebody()); got != http.StatusOK {
			t.Errorf("another client: %d", got)
		}
	})
	t.Run("L07 user", func(t *testing.T) {
		load("user 3 1h")
		token := user("web")
		exhaust(t, g, "/read", token, somebody())
		if got := from(t, g, "/read", user("web"), somebody()); got != http.StatusOK {
			t.Errorf("another user: %d", got)
		}
		alice := map[string]any{"sub": claimsOf(t, token)["sub"], "client_id": "other"}
		if got := from(t, g, "/read", f.token(alice), somebody()); got != http.StatusTooManyRequests {
			t.Errorf("the same user at another client: %d", got)
		}
		own := f.token(map[string]any{"sub": "client:web", "client_id": "web"})
		for range 5 {
			if got := from(t, g, "/read", own, somebody()); got != http.StatusOK {
				t.Errorf("a client for itself is no user: %d", got)
			}
		}
	})
	t.Run("L07 ip", func(t *testing.T) {
		load("ip 3 1h")
		exhaust(t, g, "/read", user("web"), "198.51.100.1")
		for address, want := range map[string]int{
			"198.51.100.2": 200, "::ffff:198.51.100.1": 429, "198.51.100.1, 127.0.0.1": 429,
		} {
			if got := from(t, g, "/read", user("other"), address); got != want {
				t.Errorf("%s: %d", address, got)
			}
		}
		exhaust(t, g, "/read", user("web"), "2001:db8:1:2::1")
		for address, want := range map[string]int{
			"2001:db8:1:2::2": 429, "2001:db8:1:2:ffff:ffff:ffff:ffff": 429, "2001:DB8:1:2:0::9": 429, "2001:db8:1:3::1": 200, "2001:db8::1": 200,
		} {
			if got := from(t, g, "/read", user("other"), address); got != want {
				t.Errorf("%s: %d", address, got)
			}
		}
	})
	t.Run("L07 route", func(t *testing.T) {
		load("route 3 1h")
		exhaust(t, g, "/read", user("web"), somebody())
		if got := from(t, g, "/read/other", user("other"), somebody()); got != http.StatusTooManyRequests {
			t.Errorf("the same rule: %d", got)
		}
		if got := from(t, g, "/admin", f.token(map[string]any{"scope": "admin"}), somebody()); got != http.StatusOK {
			t.Errorf("another rule: %d", got)
		}
	})
	t.Run("L07 L06 a refusal takes nothing from the other policies", func(t *testing.T) {
		load("client 100 1h\n\t\tuser 3 1h")
		exhaust(t, g, "/read", user("spa"), somebody())
		p := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+user("spa"))
		if p.Status != http.StatusOK || p.Header.Get("X-Ratelimit-Limit") != "3" {
			t.Errorf("%d %v", p.Status, p.Header)
		}
		load("client 5 1h")
		p = bearer(t, g, "/read", user("spa")) // 3 and 1 before
		if p.Status != http.StatusOK || p.Header.Get("X-Ratelimit-Remaining") != "0" {
			t.Errorf("%d %v", p.Status, p.Header)
		}
	})
}

func TestClientCannotSpoofItsAddress(t *testing.T) { // L09
	g, up := startSite(t, limited(site, "ip 3 1h"))
	access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	for i := range 8 {
		p := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+access,
			"X-Forwarded-For", somebody(), "X-Real-Ip", somebody(), "Forwarded", "for="+somebody(), "True-Client-Ip", somebody(), "Cf-Connecting-Ip", somebody())
		if want := map[bool]int{true: 200, false: 429}[i < 3]; p.Status != want {
			t.Errorf("L09: request %d: %d", i+1, p.Status)
		}
	}
	wantHits(t, up, 3)
}

func TestGuardRunsBeforeTheLimit(t *testing.T) { // L16
	g, up := startSite(t, limited(site, "client 10 1h\n\t\tip 100 1h"))
	access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	t.Run("L16 refusals of the guard cost nothing and say nothing of limits", func(t *testing.T) {
		for _, p := range []harness.Page{g.Call(t, http.MethodGet, "/read", ""), g.Call(t, http.MethodGet, "/admin", access), g.Call(t, http.MethodGet, "/read", "x.y.z")} {
			if p.Status != http.StatusUnauthorized && p.Status != http.StatusForbidden || p.Header.Get("X-Ratelimit-Limit") != "" {
				t.Errorf("%d %v", p.Status, p.Header)
			}
		}
		p := g.Call(t, http.MethodGet, "/read", access)
		if p.Status != http.StatusOK || p.Header.Get("X-Ratelimit-Remaining") != "9" {
			t.Errorf("%d %v", p.Status, p.Header)
		}
		wantHits(t, up, 1)
	})
	t.Run("L16 a flood of bad tokens", func(t *testing.T) {
		for i := range 80 {
			p := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read", "", "Authorization", fmt.Sprintf("Bearer x.y.z%d", i), "X-Forwarded-For", somebody())
			wantChallenge(t, p, up, http.StatusUnauthorized, "invalid_token")
		}
	})
	t.Run("L16 and who has a good one passes", func(t *testing.T) {
		if p := g.Call(t, http.MethodGet, "/read", access); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		wantHits(t, up, 1)
		wantChallenge(t, g.Call(t, http.MethodGet, "/read", ""), up, http.StatusUnauthorized, "")
	})
}
