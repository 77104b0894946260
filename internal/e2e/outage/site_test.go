package outage

import (
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

const site = "{\n" + harness.Quiet + `
	gatehouse {
		issuer http://$ID
		store $STORE
		limiter $LIMITER
		secret {env.GATEHOUSE_TEST_SECRET}
		revocation_max_stale 1s
		scope read "Read"
		client machine {
			secret machine-secret-0123456789-0123456789-012345
			grants client_credentials
			scopes read
		}
	}
}
http://$ID {
	gatehouse_health
	oauth_server
}
http://$API {
` + ownPaths + `	api_errors
	oauth_guard {
		public GET /public
		scope read GET,HEAD /read /slow
	}
	api_limit {
		$POLICY
		$OUTAGE
	}
	$SITE
	reverse_proxy $UPSTREAM
}
`

// ownPaths is the health directive of the API's site.
const ownPaths = "\tgatehouse_health {\n\t\tready /healthz\n\t\tlive /livez\n\t}\n"

const masterSecret = "a master secret of the tests, 0123456789"

var machine = harness.Credentials{ID: "machine", Secret: "machine-secret-0123456789-0123456789-012345"}

// with fills in what differs between configurations.
func with(pairs ...string) string {
	defaults := []string{"$STORE", "fake", "$LIMITER", "fake", "$OUTAGE", "", "$SITE", "", "$POLICY", "client 100 1h"}
	return strings.NewReplacer(append(pairs, defaults...)...).Replace(site)
}

// prepare makes an empty store and a limiter that counts in memory.
func prepare(t *testing.T) (*harness.Gateway, *harness.Upstream, *storetest.Memory, *fakeLimiter) {
	t.Helper()
	t.Setenv("GATEHOUSE_TEST_SECRET", masterSecret)
	up := harness.NewUpstream(t)
	m, l := storetest.NewMemory(nil), newFakeLimiter(t)
	theStore.Store(m)
	theLimiter.Store(l)
	return harness.Prepare(t, "$UPSTREAM", up.Addr), up, m, l
}

func start(t *testing.T, text string) (*harness.Gateway, *harness.Upstream, *storetest.Memory, *fakeLimiter) {
	t.Helper()
	g, up, m, l := prepare(t)
	g.Start(t, text)
	return g, up, m, l
}

func token(t *testing.T, g *harness.Gateway) string {
	t.Helper()
	p := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}})
	if p.Status != http.StatusOK {
		t.Fatalf("token: %d %s", p.Status, p.Body)
	}
	value, _ := p.JSON(t)["access_token"].(string)
	return value
}

func expect(t *testing.T, p harness.Page, status int) harness.Page {
	t.Helper()
	if p.Status != status {
		t.Fatalf("%d, want %d: %.300s", p.Status, status, p.Body)
	}
	return p
}

// eventually asks until the answer has the status.
func eventually(t *testing.T, status int, ask func() harness.Page) harness.Page {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		p := ask()
		if p.Status == status {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d, want %d: %s", p.Status, status, p.Body)
		}
	}
}

// settle waits until the number of goroutines is back.
func settle(t *testing.T, before int) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before+3; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
