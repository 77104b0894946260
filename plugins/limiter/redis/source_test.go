package redis

import (
	"os"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/ratelimit/sourcetest"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

func TestMain(m *testing.M) {
	code := m.Run()
	redistest.StopShared()
	os.Exit(code)
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

func TestSourceUnderSentinels(t *testing.T) {
	testSource(t, redistest.SharedSentinel(t).URL())
}

func TestSourceOnACluster(t *testing.T) {
	testSource(t, redistest.SharedCluster(t).URL())
}

func testSource(t *testing.T, url string) {
	sourcetest.Run(t, func(t *testing.T, now func() time.Time) ratelimit.Source {
		return open(t, config{settings: settings(t, url, "test:", patient), now: now, denials: -1})
	})
}
