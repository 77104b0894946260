package redis

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
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
	t.Parallel()
	c := redistest.StartCluster(t)
	c.FailOverAfter(time.Minute) // a failover forgets counts, and a busy machine may keep a server waiting
	testSlots(t, c)
	testSource(t, c.URL())
	sourcetest.Run(t, func(t *testing.T, now func() time.Time) ratelimit.Source {
		return allChosen{open(t, config{settings: settings(t, c.URL(), "chosen:", patient), nodes: 1, now: now, denials: -1})}
	})
	threeNodes(t, c.URL())
	testShards(t, c)
	testMadeUpCallersInShards(t, c)
	testLeasesInShards(t, c)
	testGiveBackBesideALostServer(t, c)
	s := open(t, config{settings: settings(t, c.URL(), "shard:", 0), nodes: 3})
	ask := func(limiter string) ratelimit.Verdict {
		v, err := s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{{Policy: &ratelimit.Policy{Limiter: limiter, Name: "p", Limit: 1 << 30, Window: time.Minute}, Subject: "s"}}})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// Two limiters on different servers.
	away, here := "a", "a"
	holder := c.Holder(place{limiter: away}.tag())
	for n := 0; c.Holder(place{limiter: here}.tag()) == holder; n++ {
		here = fmt.Sprint("b", n)
	}
	eventually(t, "both limiters are served", func() bool { return !ask(away).Outage && !ask(here).Outage })
	c.FailOverAfter(time.Second)
	holder.Freeze()
	eventually(t, "the limiter of the unreachable server notices", func() bool { ask(away); return s.pipeline(place{limiter: away}).opened.Load() })
	outages := 0
	for range 100 {
		if ask(here).Outage {
			outages++
		}
	}
	if outages > 5 || s.pipeline(place{limiter: here}).opened.Load() {
		t.Errorf("%d of 100 requests of a limiter on another server met an outage", outages)
	}
	begin := time.Now()
	eventually(t, "the cluster has put another in its place", func() bool { return !ask(away).Outage })
	t.Logf("served again %v later", time.Since(begin))
	holder.Thaw()
}

// eventually waits for what must come about soon.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in 15 s: %s", what)
		}
	}
}

func testSource(t *testing.T, url string) {
	sourcetest.Run(t, func(t *testing.T, now func() time.Time) ratelimit.Source {
		return open(t, config{settings: settings(t, url, "test:", patient), now: now, denials: -1})
	})
	sourcetest.Run(t, func(t *testing.T, now func() time.Time) ratelimit.Source {
		return open(t, config{settings: settings(t, url, "leases:", patient), now: now, clock: now, denials: -1, leases: maxLeases})
	})
}
