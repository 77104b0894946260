package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// tenants is a site that limits by a header field which clients choose, with little memory.
func tenants(size, policy string) string {
	s := strings.Replace(site, "reverse_proxy $UPSTREAM", "respond ok", 1)
	s = strings.Replace(s, "$GLOBAL", "limiter memory {\n\t\t\tsize "+size+"\n\t\t}", 1)
	return strings.Replace(s, "$LIMIT", "by tenant {http.request.header.X-T} "+policy, 1)
}

// N11: a client that makes up tenants does not keep others out, and nobody exceeds a limit.
func TestInventedTenantsLockNobodyOut(t *testing.T) {
	g, _ := startSite(t, tenants("2MiB", "5 1h"))
	host := strings.TrimPrefix(g.API, "http://")
	send := func(tenant func(i int) string, n int) map[int]int {
		return flood(t, g.API, n, func(i int) string {
			return fmt.Sprintf("GET /public HTTP/1.1\r\nHost: %s\r\nX-T: %s\r\n\r\n", host, tenant(i))
		})
	}
	one := func(name string) func(int) string { return func(int) string { return name } }
	many := func(name string) func(int) string {
		return func(i int) string { return fmt.Sprint(name, " ", i) }
	}
	metric := func(name string) float64 { return g.Metric(t, "caddy_gatehouse_limit"+name) }

	if got := send(one("greedy"), 20); got[http.StatusOK] != 5 {
		t.Fatalf("the greedy tenant: %v", got)
	}
	if got := send(one("modest"), 2); got[http.StatusOK] != 2 {
		t.Fatalf("the modest tenant: %v", got)
	}
	const flooded = 30_000
	if got := send(many("made up"), flooded); got[http.StatusOK] < flooded*99/100 {
		t.Errorf("N11 tenants while the memory fills: %v", got)
	}
	if folded := metric("er_memory_folded_callers_total"); folded < flooded/10 {
		t.Fatalf("only %v tenants were folded: the memory is not full", folded)
	}
	if bytes, size := metric("er_memory_bytes"), metric("er_memory_max_bytes"); size != 2<<20 || bytes > size || metric("er_memory_keys")*60 > size {
		t.Errorf("N11 %v bytes of %v for %v keys", bytes, size, metric("er_memory_keys"))
	}
	if got := send(many("new"), 500); got[http.StatusOK] < 495 {
		t.Errorf("N11 new tenants when the memory is full: %v", got)
	}
	if got := send(one("greedy"), 20); got[http.StatusOK] != 0 {
		t.Errorf("N11 the greedy tenant exceeded its limit: %v", got)
	}
	if got := send(one("modest"), 20); got[http.StatusOK] > 3 || got[http.StatusOK] < 1 {
		t.Errorf("N11 the modest tenant, idle since it used 2 of 5: %v", got)
	}
	if metric("_shared_decisions_total") == 0 {
		t.Error("no decision was counted as shared")
	}
	t.Run("N11 a reload changes the size and keeps the counts", func(t *testing.T) {
		g.Load(t, tenants("8MiB", "5 1h"))
		if size := metric("er_memory_max_bytes"); size != 8<<20 {
			t.Errorf("the size is %v", size)
		}
		if got := send(one("greedy"), 5); got[http.StatusOK] != 0 {
			t.Errorf("the greedy tenant: %v", got)
		}
		g.Load(t, tenants("2MiB", "5 1h"))
		if bytes := metric("er_memory_bytes"); bytes > 2<<20 {
			t.Errorf("%v bytes after a smaller size", bytes)
		}
		if got := send(one("greedy"), 5); got[http.StatusOK] != 0 {
			t.Errorf("the greedy tenant: %v", got)
		}
	})
	t.Run("N11 too small a size is refused", func(t *testing.T) {
		err := g.TryLoad(tenants("1MiB", "5 1h"))
		if err == nil || !strings.Contains(err.Error(), "limiter memory: size is 1048576 bytes, expected 2097152 (2MiB)") {
			t.Errorf("%v", err)
		}
	})
}

// N11: tenants that a client makes up, and addresses, take no more of a Redis than `size`, and
// keep nobody out. There is room for 18,350 callers in 32 MiB.
func TestInventedTenantsCannotFillRedis(t *testing.T) {
	const room = 18_350
	server := redistest.Start(t)
	g, _ := startSite(t, strings.NewReplacer(
		"reverse_proxy $UPSTREAM", "respond ok",
		"$GLOBAL", "limiter redis "+server.URL()+" {\n\t\t\tsize 32MiB\n\t\t\ttimeout 5s\n\t\t}",
		"$LIMIT", "by tenant {http.request.header.X-T} 5 1h",
	).Replace(site))
	host := strings.TrimPrefix(g.API, "http://")
	send := func(tenant string, n int) map[int]int {
		return flood(t, g.API, n, func(i int) string {
			return fmt.Sprintf("GET /public HTTP/1.1\r\nHost: %s\r\nX-T: %s\r\n\r\n", host, strings.ReplaceAll(tenant, "*", fmt.Sprint(i)))
		})
	}
	if got := send("early", 3); got[http.StatusOK] != 3 {
		t.Fatalf("the tenant that was first: %v", got)
	}
	if got := send("made up *", 21_000); got[http.StatusOK] < 20_900 {
		t.Errorf("N11 tenants while Redis fills: %v", got)
	}
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer func() { _ = client.Close() }()
	keys, err := client.Keys(context.Background(), "*limit:{*}tenant:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	own, shared := 0, 0
	for _, key := range keys {
		if strings.Contains(key, "#") {
			shared++
		} else {
			own++
		}
	}
	if own != room || shared < 1000 || shared > 1<<16 {
		t.Errorf("N11 %d tenants have a key, want %d, and there are %d of buckets", own, room, shared)
	}
	if n := g.Metric(t, "caddy_gatehouse_limit_shared_decisions_total"); n < 2000 {
		t.Errorf("N11 the metric says that %v decisions were shared", n)
	}
	if got := send("early", 5); got[http.StatusOK] != 2 {
		t.Errorf("N11 the tenant that has a key, and used 3 of 5: %v", got)
	}
	if got := send("greedy", 20); got[http.StatusOK] > 5 {
		t.Errorf("N11 a tenant without a key exceeded its limit: %v", got)
	}
	if got := send("new *", 500); got[http.StatusOK] < 490 {
		t.Errorf("N11 new tenants when there is no room: %v", got)
	}
}
