package redis

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

func TestMain(m *testing.M) {
	code := m.Run()
	redistest.StopShared()
	if code == 0 {
		// go-redis looks once a second whether a server can be dialled again, and only
		// then sees that it was closed.
		err := goleak.Find()
		for until := time.Now().Add(3 * time.Second); err != nil && time.Now().Before(until); {
			err = goleak.Find()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var prefixes atomic.Int64

// options reach url with a prefix of their own.
func options(t testing.TB, url string) Options {
	t.Helper()
	s, err := redisconn.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	s.Prefix = fmt.Sprint("test", prefixes.Add(1), ":")
	return Options{Settings: s}
}

func open(t testing.TB, o Options) *Backend {
	t.Helper()
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// contract runs the suite twice: with the layout of most records, and with that of the
// kinds that are watched.
func contract(t *testing.T, url string, replicas int) {
	for _, c := range []struct {
		name    string
		watched func(t *testing.T) bool
	}{
		{"a record a key", func(t *testing.T) bool { return strings.Contains(t.Name(), "/watch/") }},
		{"watched kinds", func(*testing.T) bool { return true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, now func() time.Time) store.Backend {
				o := options(t, url)
				o.Now, o.Replicas, o.Watched = now, replicas, []store.Kind{}
				o.Settings.Timeout = 2 * time.Second // a machine full of tests is slow
				if c.watched(t) {
					o.Watched = append(store.WatchedKinds(), "k")
				}
				return open(t, o)
			})
		})
	}
}

func TestEveryKindOfRedisMeetsTheContract(t *testing.T) {
	for name, kind := range map[string]struct {
		url      func(t *testing.T) string
		replicas int
	}{
		"one server":                    {func(t *testing.T) string { return redistest.Shared(t).URL() }, 0},
		"a primary that sentinels name": {func(t *testing.T) string { return redistest.SharedSentinel(t).URL() }, 1},
		"a cluster":                     {func(t *testing.T) string { return redistest.SharedCluster(t).URL() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract(t, kind.url(t), kind.replicas)
		})
	}
}
