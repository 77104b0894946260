package limiterbench

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// BenchmarkGCRA has the shape of BenchmarkDecide in plugins/limiter/redis. It asks once for
// each policy, since redis_rate has no decision over several.
func BenchmarkGCRA(b *testing.B) {
	client := redis.NewClient(&redis.Options{Addr: startRedis(b)})
	b.Cleanup(func() { _ = client.Close() })
	limiter := redis_rate.NewLimiter(client)
	limit := redis_rate.Limit{Rate: 1 << 30, Burst: 1 << 30, Period: time.Minute}
	for _, policies := range []int{1, 4} {
		for _, concurrent := range []int{1, 64, 1000} {
			b.Run(fmt.Sprintf("policies=%d/at-once=%d", policies, concurrent), func(b *testing.B) {
				client.FlushAll(b.Context())
				var next atomic.Int64
				var all sync.WaitGroup
				for range concurrent {
					all.Go(func() {
						for n := int(next.Add(1)); n <= b.N; n = int(next.Add(1)) {
							if err := allowAll(b.Context(), limiter, limit, policies, n); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
			})
		}
	}
}

func allowAll(ctx context.Context, limiter *redis_rate.Limiter, limit redis_rate.Limit, policies, n int) error {
	for i := range policies {
		subject := strconv.Itoa(n * 7919 % [...]int{1000, 200, 20, 1}[i])
		r, err := limiter.Allow(ctx, fmt.Sprint("policy", i, ":", subject), limit)
		if err != nil {
			return err
		}
		if r.Allowed == 0 {
			return fmt.Errorf("refused: %+v", r)
		}
	}
	return nil
}

// startRedis starts a server that ends with the benchmark, and returns its address.
func startRedis(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(addr)
	server := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", b.TempDir())
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for range 100 {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return addr
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.Fatal("redis-server does not answer")
	return ""
}
