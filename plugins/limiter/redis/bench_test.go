package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const benched = 1000 // subjects

// BenchmarkDecide compares decisions per second, and what each costs the gateway's and Redis's
// processor, with those of another way to limit. Every decision passes. The benchmark in
// .ci/limiterbench measures a third way, with the limiter of another project. Figures are in
// deploy/bench/README.md.
func BenchmarkDecide(b *testing.B) {
	server := redistest.Start(b)
	for _, policies := range []int{1, 4} {
		for _, at := range []int{1, 64, 1000} {
			for _, way := range []struct {
				name string
				make func(b *testing.B, url string, policies, at int) func(n int) error
			}{{"window", window}, {"leased", leased}, {"chosen", chosen}, {"log", sortedSets}} {
				b.Run(fmt.Sprintf("%s/policies=%d/at-once=%d", way.name, policies, at), func(b *testing.B) {
					server.CLI("FLUSHALL")
					allow := way.make(b, server.URL(), policies, at)
					if err := allow(0); err != nil {
						b.Fatal(err)
					}
					load(b, server, at, allow)
				})
			}
		}
	}
}

func load(b *testing.B, server *redistest.Server, at int, allow func(int) error) {
	var next atomic.Int64
	var all sync.WaitGroup
	own, theirs := ownCPU(), serverCPU(b, server)
	b.ResetTimer()
	for range at {
		all.Go(func() {
			for {
				n := int(next.Add(1))
				if n > b.N {
					return
				}
				if err := allow(n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
	b.ReportMetric(float64((ownCPU()-own).Microseconds())/float64(b.N), "gateway-µs")
	b.ReportMetric(float64((serverCPU(b, server)-theirs).Microseconds())/float64(b.N), "redis-µs")
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func serverCPU(b *testing.B, s *redistest.Server) (sum time.Duration) {
	b.Helper()
	for line := range strings.Lines(s.CLI("INFO", "cpu")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_user" || name == "used_cpu_sys" {
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				b.Fatal(err)
			}
			sum += time.Duration(seconds * float64(time.Second))
		}
	}
	return sum
}

// spread is whom decision n is counted for: the first policy has 1,000 subjects, the
// others fewer, the last one.
func spread(n, policy int) string {
	return strconv.Itoa(n * 7919 % [...]int{benched, 200, 20, 1}[policy])
}

func window(b *testing.B, url string, policies, at int) func(int) error {
	return windows(b, url, policies, at, false, 0)
}

// leased is window with requests that Redis charges in advance.
func leased(b *testing.B, url string, policies, at int) func(int) error {
	return windows(b, url, policies, at, false, maxLeases)
}

// chosen is window for policies whose subjects clients choose.
func chosen(b *testing.B, url string, policies, at int) func(int) error {
	return windows(b, url, policies, at, true, maxLeases)
}

func windows(b *testing.B, url string, policies, at int, chosen bool, leases int) func(int) error {
	wait := patient
	if at == 1 {
		wait = maxOwnWait
	}
	s := open(b, config{settings: settings(b, url, "window:", wait), nodes: 1, denials: maxDenials, leases: leases})
	all := make([]*ratelimit.Policy, policies)
	for i := range all {
		all[i] = &ratelimit.Policy{Limiter: "api", Name: fmt.Sprint("policy", i), Limit: 1 << 30, Window: time.Minute, Chosen: chosen}
	}
	return func(n int) error {
		charges := make([]ratelimit.Charge, policies)
		for i := range charges {
			charges[i] = ratelimit.Charge{Policy: all[i], Subject: spread(n, i)}
		}
		v, err := s.Decide(context.Background(), ratelimit.Request{Charges: charges, OnOutage: ratelimit.OutageClosed})
		if err == nil && !v.Admitted {
			err = fmt.Errorf("refused: %+v", v)
		}
		return err
	}
}

// BenchmarkLeases measures what leases cost a request that has none, because its caller comes seldom, and one that has.
func BenchmarkLeases(b *testing.B) {
	for _, c := range []struct {
		name    string
		callers int
	}{{"seldom", 100_000}, {"often", 1}} {
		b.Run(c.name, func(b *testing.B) {
			l, now := newLeases(maxLeases), time.Now()
			requests, encoded := make([]ratelimit.Request, c.callers), make([]*encodedRequest, c.callers)
			for i := range requests {
				p := &ratelimit.Policy{Limiter: "api", Name: "policy", Limit: 1 << 30, Window: time.Minute}
				requests[i] = ratelimit.Request{Charges: []ratelimit.Charge{{Policy: p, Subject: strconv.Itoa(i)}}, Results: make([]ratelimit.Result, 0, 1)}
				encoded[i] = encodeRequest("{api}", &requests[i], keyBudget{})
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				k, r, at := encoded[i%c.callers], &requests[i%c.callers], now.Add(time.Duration(i)*25*time.Microsecond)
				if _, _, want := l.use(k, r, at); want > 0 {
					g := &group{encodedRequest: k, n: 1, lease: l.reserve(k, want)}
					l.settle("{api}", g, &answer{at: at.UnixMilli(), asked: 1, admitted: 1 + g.lease, counts: make([]chargeCount, 1)}, at, at)
				}
			}
		})
	}
}

// client is used by the others: with a pool for all that happens at once.
func client(b *testing.B, url string) goredis.UniversalClient {
	b.Helper()
	c, err := settings(b, url, "", 0).Open(redisconn.Tuning{Dial: patient, Timeout: patient})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// sortedSets keeps each admission until it is a window old, in one step for all policies.
func sortedSets(b *testing.B, url string, policies, _ int) func(int) error {
	c := client(b, url)
	script := redisconn.NewScript(`
local t = redis.call('TIME')
local now, window = t[1] * 1000000 + t[2], 60000000
for i = 1, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now - window)
  if redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[1]) then return 0 end
end
for i = 1, #KEYS do
  redis.call('ZADD', KEYS[i], now, ARGV[2])
  redis.call('PEXPIRE', KEYS[i], 60000)
end
return 1`)
	return func(n int) error {
		keys := make([]string, policies)
		for i := range keys {
			keys[i] = fmt.Sprint("log:{api}policy", i, ":", spread(n, i))
		}
		r, err := script.Run(context.Background(), c, keys, 1<<30, n)
		if err == nil && r != int64(1) {
			err = fmt.Errorf("refused: %v", r)
		}
		return err
	}
}
