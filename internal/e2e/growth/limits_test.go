package growth

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/limiter/redis"
)

// What a decision under two policies costs one Redis, and the busiest of a cluster of three. Where
// both policies count by user, or one for all, the three share the work; where one counts by client, they do not.
func TestLimitsOnOneAndThreeServers(t *testing.T) {
	one := redistest.Start(t)
	cluster := redistest.StartPrimaries(t) // the one server has no replica either
	for _, c := range []struct {
		name    string
		url     string
		servers []*redistest.Server
		by      [2]string
	}{
		{"one server, two limits by user", one.URL(), []*redistest.Server{one}, [2]string{"user", "user"}},
		{"three servers, two limits by user", cluster.URL(), cluster.Nodes[:3], [2]string{"user", "user"}},
		{"three servers, by user and for all", cluster.URL(), cluster.Nodes[:3], [2]string{"user", "all"}},
		{"three servers, by user and by client", cluster.URL(), cluster.Nodes[:3], [2]string{"user", "client"}},
	} {
		for _, callers := range sizes(64, 256, 1024) {
			policies := [2]ratelimit.Policy{{Name: "first", Limit: 1 << 30, Window: time.Minute}, {Name: "second", Limit: 1 << 30, Window: time.Hour}}
			ratelimit.AssignPlaces([][]ratelimit.Counted{{{Policy: &policies[0], By: c.by[0]}, {Policy: &policies[1], By: c.by[1], Common: c.by[1] == "all"}}})
			charges := func(n int64) []ratelimit.Charge {
				subjects := map[string]string{"user": fmt.Sprint("user ", n%10_000), "client": fmt.Sprint("client ", n%100), "all": "all"}
				return []ratelimit.Charge{{Policy: &policies[0], Subject: subjects[c.by[0]]}, {Policy: &policies[1], Subject: subjects[c.by[1]]}}
			}
			before := processorTimes(t, c.servers)
			began := time.Now()
			decided := decideFor(t, c.url, callers, charges)
			rate := float64(decided) / time.Since(began).Seconds()
			var sum, most time.Duration
			var shares []string
			after := processorTimes(t, c.servers)
			for i := range after {
				used := after[i] - before[i]
				sum, most = sum+used, max(most, used)
			}
			for i := range after {
				shares = append(shares, fmt.Sprintf("%d %%", 100*(after[i]-before[i])/sum))
			}
			t.Logf("| %s, %4d at once | %.0f decisions/s here | %.1f µs of all servers and %.1f µs of the busiest each, so %.0f/s with a core for each | %s |",
				c.name, callers, rate, perDecision(sum, decided), perDecision(most, decided), 1e6/perDecision(most, decided), strings.Join(shares, ", "))
			if c.by[1] != "client" && len(c.servers) == 3 && most > sum/2 {
				t.Errorf("%s: one server does half of the work: %v", c.name, shares)
			}
		}
	}
}

func perDecision(d time.Duration, decided int64) float64 {
	return float64(d.Nanoseconds()) / 1000 / float64(decided)
}

// decideFor has two gateways decide for as many callers at once, for some time.
func decideFor(t *testing.T, url string, callers int, charges func(n int64) []ratelimit.Charge) int64 {
	t.Helper()
	var sources [2]ratelimit.OpenSource
	for i := range sources {
		l := new(redis.Limiter)
		l.URL, l.Timeout = url, caddy.Duration(10*time.Second)
		if err := l.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		var err error
		if sources[i], err = l.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var n atomic.Int64
	var all sync.WaitGroup
	end := time.Now().Add(3 * time.Second)
	for i := range callers {
		all.Go(func() {
			for time.Now().Before(end) {
				v, err := sources[i%2].Decide(t.Context(), ratelimit.Request{Charges: charges(n.Add(1)), OnOutage: ratelimit.OutageClosed})
				if err != nil || !v.Admitted {
					t.Errorf("%+v, %v", v, err)
					return
				}
			}
		})
	}
	all.Wait()
	for _, s := range sources {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	return n.Load()
}

// processorTimes are those that servers have used since they started.
func processorTimes(t *testing.T, servers []*redistest.Server) []time.Duration {
	t.Helper()
	times := make([]time.Duration, len(servers))
	for i, s := range servers {
		for line := range strings.Lines(s.CLI("INFO", "cpu")) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			if name == "used_cpu_user" || name == "used_cpu_sys" {
				seconds, err := strconv.ParseFloat(value, 64)
				if err != nil {
					t.Fatal(err)
				}
				times[i] += time.Duration(seconds * float64(time.Second))
			}
		}
	}
	return times
}

// What a first request meets in a memory limiter with 1, 2 and 10 times as many callers in a window as
// it has room for.
func TestMemoryLimiterAboveItsSize(t *testing.T) {
	for _, size := range sizes(4<<20, 16<<20) {
		for _, times := range []int{1, 2, 10} {
			for _, limit := range []int64{1, 5} {
				m, err := ratelimit.NewMemory(ratelimit.MemoryConfig{Size: int64(size)})
				if err != nil {
					t.Fatal(err)
				}
				policy := &ratelimit.Policy{Name: "p", Limit: limit, Window: time.Hour}
				callers, refused := times*size/112, 0
				began := time.Now()
				for i := range callers {
					charges := []ratelimit.Charge{{Policy: policy, Subject: fmt.Sprint("caller ", i)}}
					v, err := m.Decide(t.Context(), ratelimit.Request{Charges: charges})
					if err != nil {
						t.Fatal(err)
					}
					if !v.Admitted {
						refused++
					}
				}
				each := time.Since(began) / time.Duration(callers)
				s := m.Stats()
				t.Logf("| %2d x %7d callers in %d MiB, limit %2d | %.2f %% of first requests refused | %d bytes a caller of %d, %v a decision | %d folded, %d shared |",
					times, size/112, size>>20, limit, 100*float64(refused)/float64(callers), s.Bytes/int64(s.Keys), s.Keys, each, s.Folded, s.Shared)
				if s.Bytes > s.Size || limit > 1 && refused*1000 > callers {
					t.Errorf("%d of %d first requests were refused; %+v", refused, callers, s)
				}
			}
		}
	}
}
