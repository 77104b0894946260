package authserver_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

func digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// watched is a directory that says what it was asked.
type watched struct {
	directory.Directory
	mu    sync.Mutex
	names []string
	began chan struct{} // one for each call, if not nil
	end   chan struct{} // calls return when it is closed, if not nil
	most  atomic.Int64
	now   atomic.Int64
}

func (d *watched) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	d.mu.Lock()
	d.names = append(d.names, username)
	d.mu.Unlock()
	n := d.now.Add(1)
	defer d.now.Add(-1)
	for most := d.most.Load(); n > most && !d.most.CompareAndSwap(most, n); most = d.most.Load() {
	}
	if d.began != nil {
		d.began <- struct{}{}
	}
	if d.end != nil {
		select {
		case <-d.end:
		case <-ctx.Done(): // as a directory behind a network does
			return directory.User{}, false, ctx.Err()
		}
	}
	return d.Directory.Authenticate(ctx, username, password)
}

func (d *watched) asked() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.names)
}

func watch(d **watched) func(*authserver.Config) {
	return func(c *authserver.Config) {
		twoUsers(c)
		*d = &watched{Directory: c.Directory}
		c.Directory = *d
		c.Protect.PerAddress = 1000
	}
}

func TestEveryRefusalLooksTheSame(t *testing.T) { // U13
	var d *watched
	var users interface{ SetLocked(string, bool) }
	g := newBrowserRig(t, watch(&d), func(c *authserver.Config) {
		users, _ = d.Directory.(interface{ SetLocked(string, bool) })
	})
	b := g.browser()
	login := b.get(authorizeURL(webRequest()))
	refuse := func(name string) page { return b.signIn(login, name, "wrong") }
	wrong, unknown := refuse("ann"), refuse("ghost")
	users.SetLocked("u2", true)
	locked := b.signIn(login, "bob", "y")
	for range 10 {
		refuse("carl")
	}
	tooMany := refuse("carl")
	for name, p := range map[string]page{"wrong": wrong, "unknown": unknown, "locked": locked, "too many": tooMany} {
		want := wrong.body
		for _, other := range []string{"ghost", "bob", "carl"} {
			p.body = strings.ReplaceAll(p.body, `value="`+other+`"`, `value="ann"`)
		}
		if p.status != http.StatusUnauthorized || p.body != want || p.header.Get("WWW-Authenticate") != "" || p.header.Get("Retry-After") != "" || len(p.set) != 0 {
			t.Errorf("%s: %d %v", name, p.status, p.header)
		}
	}
	// Each cost one question to the directory.
	if n := len(d.asked()); n != 14 {
		t.Errorf("%d questions", n)
	}
}

func TestTenFailuresLockAnAccountForAWhile(t *testing.T) { // U14, U18
	var d *watched
	g := newBrowserRig(t, watch(&d))
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	for i := range 10 {
		g.from(fmt.Sprintf("192.0.2.%d", i+1))
		name := []string{"ann", " ANN", "Ann ", "\uff41nn"}[i%4] // one name, however it is spelt
		p := b.do("POST", tokenIssuer+"/login", login.form("username", name, "password", "wrong").Encode(), "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i))
		if p.status != http.StatusUnauthorized {
			t.Fatalf("%d: %d", i, p.status)
		}
	}
	g.from("192.0.2.200")
	if p := b.signIn(login, "ann", annsPassword); p.status != http.StatusUnauthorized {
		t.Fatalf("the right password during the lock: %d", p.status)
	}
	if asked := d.asked(); asked[len(asked)-1] == "ann" {
		t.Error("the password of a locked account was looked at")
	}
	if p := g.browserAt(b).signIn(login, "bob", "y"); p.status != http.StatusSeeOther {
		t.Errorf("another user: %d", p.status)
	}
	g.pass(15*time.Minute - time.Second)
	login = b.get(tokenIssuer + "/login")
	if p := b.signIn(login, "ann", annsPassword); p.status != http.StatusUnauthorized {
		t.Errorf("a second before the end of the lock: %d", p.status)
	}
	g.pass(time.Second)
	if p := b.signIn(login, "ann", annsPassword); p.status != http.StatusSeeOther {
		t.Errorf("after the lock: %d", p.status)
	}
}

// browserAt is another tab with the cookies of b, so that a sign-in leaves b and its forms alone.
func (g *tokenRig) browserAt(b *tab) *tab {
	return &tab{g, map[string]string{browserCookie: b.browserID(), lastSignInCookie: b.cookies[lastSignInCookie]}}
}

func TestSuccessfulSignInsDoNotCountAgainstTheAccount(t *testing.T) {
	var d *watched
	g := newBrowserRig(t, watch(&d))
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	for i := range 40 {
		if p := g.browserAt(b).signIn(login, "ann", annsPassword); p.status != http.StatusSeeOther {
			t.Fatalf("%d: %d", i, p.status)
		}
	}
	users, _ := d.Directory.(interface{ Fail(error) })
	users.Fail(errors.New("away"))
	for range 40 { // nor is an outage
		g.isError(g.browserAt(b).signIn(login, "ann", annsPassword), http.StatusServiceUnavailable)
	}
	users.Fail(nil)
	if p := g.browserAt(b).signIn(login, "ann", annsPassword); p.status != http.StatusSeeOther {
		t.Errorf("after an outage: %d", p.status)
	}
}

func TestAttemptsPerAddressAreLimited(t *testing.T) { // U17
	for _, c := range []struct {
		name       string
		ip, second string
		shared     bool
	}{
		{"IPv4", "192.0.2.1", "192.0.2.2", false},
		{"IPv6 of one network", "2001:db8::1", "2001:db8::ffff:2", true},
		{"IPv6 of two", "2001:db8::1", "2001:db8:0:1::1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newBrowserRig(t, twoUsers)
			g.from(c.ip)
			b := g.browser()
			login := b.get(authorizeURL(webRequest()))
			for i := range 30 {
				if p := b.signIn(login, fmt.Sprint("user", i), "guess"); p.status != http.StatusUnauthorized {
					t.Fatalf("%d: %d", i, p.status)
				}
			}
			p := b.signIn(login, "ann", annsPassword)
			if p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") != "60" || !strings.Contains(p.body, `type="password"`) || p.form().Get("request") == "" {
				t.Fatalf("%d %v %s", p.status, p.header, p.body)
			}
			g.isPage(p)
			g.from(c.second)
			p = g.browserAt(b).signIn(login, "ann", annsPassword)
			if (p.status == http.StatusTooManyRequests) != c.shared {
				t.Errorf("the second address: %d", p.status)
			}
			g.from(c.ip)
			g.pass(time.Minute)
			g.isConsent(b.signIn(login, "ann", annsPassword))
		})
	}
}

// N09: thirty people behind one address who sign in, or a fault, cost it nothing; and a
// right password does not give back what wrong ones cost.
func TestOnlyFailuresCountAgainstAnAddress(t *testing.T) {
	g := newBrowserRig(t, twoUsers)
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	users, _ := g.server.Directory.(interface{ Fail(error) })
	right := func() int { return g.browserAt(b).signIn(login, "ann", annsPassword).status }
	for i := range 40 {
		if status := right(); status != http.StatusSeeOther {
			t.Fatalf("N09 right password %d: %d", i+1, status)
		}
	}
	users.Fail(errors.New("away"))
	for range 40 {
		if status := right(); status != http.StatusServiceUnavailable {
			t.Fatalf("N09 during a fault: %d", status)
		}
	}
	users.Fail(nil)
	for i := range 30 {
		if status := right(); status != http.StatusSeeOther {
			t.Fatalf("N09 right password after %d wrong ones: %d", i, status)
		}
		if p := g.browserAt(b).signIn(login, fmt.Sprint("user", i), "guess"); p.status != http.StatusUnauthorized {
			t.Fatalf("N09 wrong password %d: %d", i+1, p.status)
		}
	}
	if status := right(); status != http.StatusTooManyRequests {
		t.Errorf("N09 after thirty failures between right passwords: %d", status)
	}
}

func TestParallelPasswordGuessesStayWithinTheLimit(t *testing.T) { // U16, E14
	var d *watched
	g := newBrowserRig(t, watch(&d), func(c *authserver.Config) { c.Protect.HashConcurrency = 4; c.Protect.HashQueueTimeout = time.Minute })
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 500 {
		tab := g.browserAt(b)
		wg.Go(func() {
			<-start
			tab.signIn(login, "ann", fmt.Sprint("guess", i))
		})
	}
	close(start)
	wg.Wait()
	guesses := 0
	for _, name := range d.asked() {
		if name == "ann" {
			guesses++
		}
	}
	if guesses != 10 || d.most.Load() > 4 {
		t.Errorf("%d of 500 guesses were evaluated, %d at one time", guesses, d.most.Load())
	}
}

func TestInvalidPasswordsAreRefusedBeforeHashing(t *testing.T) { // U20, U21
	var d *watched
	g := newBrowserRig(t, watch(&d))
	b := g.browser()
	login := b.get(tokenIssuer + "/login")
	for name, c := range map[string]struct {
		username, password string
		status             int
	}{
		"1,025 bytes":        {"ann", strings.Repeat("p", 1025), 400},
		"NUL":                {"ann", "p\x00q", 400},
		"NUL in the name":    {"a\x00nn", "p", 400},
		"not UTF-8":          {"ann", "p\xff", 400},
		"a long name":        {strings.Repeat("a", 257), "p", 400},
		"a line break":       {"ann\nbob", "p", 400},
		"larger than a form": {"ann", strings.Repeat("p", 1<<20), 413},
		"no password":        {"ann", "", 401},
		"no name":            {"", "p", 401},
	} {
		p := b.signIn(login, c.username, c.password)
		if p.status != c.status || len(p.set) != 0 {
			t.Errorf("%s: %d", name, p.status)
		}
	}
	if asked := d.asked(); len(asked) != 0 {
		t.Errorf("asked for %q", asked)
	}
	if p := b.signIn(login, "ann", strings.Repeat("p", 1024)); p.status != 401 || len(d.asked()) != 1 {
		t.Errorf("1,024 bytes: %d", p.status)
	}
}

func TestLogHasNoSecretsAndMetricHasTheOutcome(t *testing.T) { // E18, O05
	var d *watched
	m := &signInMetrics{}
	g := newBrowserRig(t, watch(&d), func(c *authserver.Config) { c.Metrics = m; c.Protect.PerAddress = 13 })
	b := g.browser()
	q := webRequest().with("state", "canary-state").with("nonce", "canary-nonce")
	login := b.get(authorizeURL(q))
	b.signIn(login, "canary-name", "canary-guess")
	for range 11 {
		b.signIn(login, "bob", "canary-guess")
	}
	consent := b.signIn(login, "ann", annsPassword)
	p := b.submit(consent, "decision", "allow")
	back := must(url.Parse(p.header.Get("Location"))).Query()
	b.do("POST", tokenIssuer+"/consent", consent.form("decision", "deny").Encode())
	b.get(authorizeURL(q.with("scope", "canary-scope\"")))
	users, _ := d.Directory.(interface{ Fail(error) })
	users.Fail(errors.New("directory away"))
	other := g.browser()
	again := other.get(authorizeURL(q))
	for range 2 {
		g.browserAt(other).signIn(again, "ann", annsPassword)
	}
	for range 2 { // no name: a failure all the same
		g.browserAt(other).submit(other.get(tokenIssuer + "/logout").loginInstead(again))
	}
	want := []string{"refused", "refused", "refused", "refused", "refused", "refused", "refused", "refused", "refused", "refused", "refused", "locked", "ok", "error", "error", "refused", "limited"}
	if got := m.all(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	log := g.log.String()
	for _, secret := range []string{
		"canary", back.Get("code"), b.browserID(), b.cookies[sessionCookie], login.form().Get("request"), consent.form().Get("token"),
	} {
		if secret == "" || strings.Contains(log, secret) {
			t.Errorf("%q is in the log: %s", secret, log)
		}
	}
	for _, line := range []string{`"signed in" subject=u1`, `"code issued" client=web subject=u1`, `"consent denied" client=web subject=u1`, "directory away", `"sign-in limited"`} {
		if !strings.Contains(log, line) {
			t.Errorf("%s is not in the log: %s", line, log)
		}
	}
}

// loginInstead is the login form, for a browser that got an error page.
func (page) loginInstead(login page) page { return login }

type signInMetrics struct {
	rigMetrics
	outcomes []string
}

func (m *signInMetrics) SignIn(outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes = append(m.outcomes, outcome)
}

func (m *signInMetrics) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.outcomes)
}

// N06: a customer with a /48 has 65,536 addresses to fail from.
func TestFailuresOfLargeNetworksAreLimited(t *testing.T) {
	for name, c := range map[string]struct {
		ip    func(i int) string
		limit int
		other string
	}{
		"/64 of a /56": {func(i int) string { return fmt.Sprintf("2001:db8:1:1%02x::1", i%250) }, 60, "2001:db8:1:200::1"},
		"/56 of a /48": {func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i%100*256) }, 240, "2001:db8:2::1"},
	} {
		t.Run("N06 "+name, func(t *testing.T) {
			g := newBrowserRig(t, twoUsers)
			b := g.browser()
			login := b.get(tokenIssuer + "/login")
			fails := func(ip string) int {
				g.from(ip)
				return b.signIn(login, "", "").status
			}
			for i := range c.limit {
				if status := fails(c.ip(i)); status != http.StatusUnauthorized {
					t.Fatalf("N06 failure %d: %d", i+1, status)
				}
			}
			if status := fails(c.ip(c.limit)); status != http.StatusTooManyRequests {
				t.Errorf("N06 one more: %d", status)
			}
			if status := fails(c.other); status != http.StatusUnauthorized {
				t.Errorf("N06 another network: %d", status)
			}
		})
	}
}
