package gateway

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func init() { caddy.RegisterModule(new(faulty)) }

// faulty is a store in memory that a test can look into and make fail. There is one
// gateway in a test process at a time, and so one of these.
type faulty struct{}

var faultyStore atomic.Pointer[storetest.Memory]

func (*faulty) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.stores.faulty", New: func() caddy.Module { return new(faulty) }}
}

func (*faulty) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { d.Next(); return nil }

func (*faulty) Identity() any { return faultyStore.Load() }

func (*faulty) Open(context.Context) (store.Backend, error) { return faultyStore.Load(), nil }

// masterSecret is what a site with the faulty store is configured with.
const masterSecret = "a master secret of the tests, 0123456789"

// faultySite is the site with that store, behind a trusted proxy on this machine, so
// that a test can send from many addresses.
var faultySite = strings.Replace(trustingSite, "store bolt $DIR/state.db", "store faulty\n\t\tsecret {env.GATEHOUSE_TEST_SECRET}", 1)

// trustingSite is the site behind a trusted proxy on this machine.
var trustingSite = strings.Replace(site, "\tpersist_config off\n", `	persist_config off
	servers {
		trusted_proxies static 127.0.0.1/32
	}
`, 1)

// startFaulty is start with the faulty store.
func startFaulty(t *testing.T, more ...string) (*harness.Gateway, *harness.Upstream, *storetest.Memory) {
	t.Helper()
	return startFaultySite(t, faultySite, more...)
}

// startFaultySite is startFaulty for a site that was changed.
func startFaultySite(t *testing.T, site string, more ...string) (*harness.Gateway, *harness.Upstream, *storetest.Memory) {
	t.Helper()
	t.Setenv("GATEHOUSE_TEST_SECRET", masterSecret)
	m := storetest.NewMemory(nil)
	faultyStore.Store(m)
	g, up := startSite(t, site, more...)
	return g, up, m
}

// anybody is the site with the faulty store and without a directory of users, so that
// forged tokens may speak of users that there are not.
var anybody = strings.Replace(faultySite, "\t\tusers file $DIR/users.json\n", "", 1)
