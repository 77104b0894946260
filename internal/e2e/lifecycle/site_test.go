package lifecycle

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const site = "{\n" + harness.Quiet + `
	gatehouse {
		issuer http://$ID
		store bolt $DIR/$STORE
		scope read "Read"
		$GLOBAL
		client machine {
			secret machine-secret-0123456789-0123456789-012345
			grants client_credentials
			scopes read
		}
	}
}
http://$ID {
	oauth_server
}
http://$API {
	api_errors
	oauth_guard {
		scope read GET /a /slow
		scope read GET /b
	}
	api_limit {
		client $MAX 1h
	}
	$SITE
	reverse_proxy $UPSTREAM
}
`

var machine = harness.Credentials{ID: "machine", Secret: "machine-secret-0123456789-0123456789-012345"}

// with fills in what differs between configurations.
func with(pairs ...string) string {
	defaults := []string{"$STORE", "state.db", "$GLOBAL", "", "$SITE", "", "$MAX", "100"}
	return strings.NewReplacer(append(pairs, defaults...)...).Replace(site)
}

func prepare(t *testing.T) (*harness.Gateway, *harness.Upstream) {
	t.Helper()
	up := harness.NewUpstream(t)
	return harness.Prepare(t, "$UPSTREAM", up.Addr), up
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

// settle waits until the number of goroutines is back.
func settle(t *testing.T, before int) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before+3 {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// broken is a handler that fails in Provision, after the gateway's own were built.
type broken struct{}

func init() {
	caddy.RegisterModule(broken{})
	httpcaddyfile.RegisterHandlerDirective("test_broken", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		return broken{}, nil
	})
	httpcaddyfile.RegisterDirectiveOrder("test_broken", httpcaddyfile.After, "encode")
	caddy.RegisterModule(new(brokenStore))
}

func (broken) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_broken", New: func() caddy.Module { return broken{} }}
}

func (broken) Provision(caddy.Context) error { return errors.New("broken on purpose") }

func (broken) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r)
}

// brokenStore is a guest that fails in Provision.
type brokenStore struct{}

func (*brokenStore) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.stores.broken", New: func() caddy.Module { return new(brokenStore) }}
}

func (*brokenStore) Provision(caddy.Context) error                   { return errors.New("broken on purpose") }
func (*brokenStore) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { d.Next(); return nil }

func validate(t *testing.T, g *harness.Gateway, text string) error {
	t.Helper()
	raw, err := g.Adapt(text)
	if err != nil {
		return err
	}
	var cfg caddy.Config
	if err := json.Unmarshal(raw, &cfg); err != nil {
		t.Fatal(err)
	}
	return caddy.Validate(&cfg)
}
