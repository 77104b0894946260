package redis

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/ratelimit/sourcetest"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.checks", soak("20", "1000")); err != nil {
		panic(err)
	}
	// Tests with faults wait more than they work.
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	code := m.Run()
	redistest.StopShared()
	os.Exit(code)
}

// soak chooses between the short and the long form of a test.
func soak[T any](short, long T) T {
	if os.Getenv("GATEHOUSE_SOAK") != "" {
		return long
	}
	return short
}

// patient is for tests of the counts on a busy machine: nothing is an outage.
const patient = 8 * time.Second

func settings(t testing.TB, url, prefix string, wait time.Duration) redisconn.Settings {
	t.Helper()
	s, err := redisconn.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	s.Prefix, s.Timeout = prefix, wait
	return s
}

func open(t testing.TB, c config) *Source {
	t.Helper()
	s, err := newSource(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSourceOnOneServer(t *testing.T) {
	testSource(t, redistest.Shared(t).URL())
}

func TestSourceOnACluster(t *testing.T) {
	testSource(t, redistest.SharedCluster(t).URL())
}

func testSource(t *testing.T, url string) {
	sourcetest.Run(t, func(t *testing.T, now func() time.Time) ratelimit.Source {
		return open(t, config{settings: settings(t, url, "test:", patient), now: now, denials: -1})
	})
}
