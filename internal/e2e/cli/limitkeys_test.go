package cli

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// N11: a limiter in Redis bounds what the keys of a policy take if there may be any number
// of them, whatever other policies stand beside it: it counts them under a key that ends in "#".
func TestN11UnboundedPolicyKeysAreCounted(t *testing.T) {
	server := redistest.Start(t)
	const tenant = "by tenant {http.request.header.X-Tenant} 5 1h"
	for name, c := range map[string]struct {
		policies string
		counted  string // the policies, in the order of their names
	}{
		"a header":                               {tenant, "tenant"},
		"an address and a header":                {"by x {http.request.remote.host}{http.request.header.X-Tenant} 5 1h", "x"},
		"a header, and a limit for each address": {tenant + "\n\t\tip 100 10s", "ip tenant"},
		"a header, and a limit for all":          {tenant + "\n\t\tall 100 10s", "tenant"},
		"what a map makes of a header":           {"by mapped {tenant} 5 1h", "mapped"},
		"an address":                             {"ip 100 10s", "ip"},
		"rules":                                  {"route 100 10s", ""},
	} {
		t.Run("N11 "+name, func(t *testing.T) {
			server.CLI("FLUSHALL")
			g := startSite(t, limitedBy(server, "64MiB", c.policies))
			if p := tenantAsks(t, g, "one"); p.Status != http.StatusOK {
				t.Fatalf("%d %s", p.Status, p.Body)
			}
			client := redis.NewClient(&redis.Options{Addr: server.Addr})
			defer func() { _ = client.Close() }()
			var counted []string
			for _, policy := range []string{"all", "ip", "mapped", "route", "tenant", "x"} {
				keys, err := client.Keys(context.Background(), "*}"+policy+":*#").Result()
				if err != nil {
					t.Fatal(err)
				}
				if len(keys) > 0 {
					counted = append(counted, policy)
				}
			}
			if got := strings.Join(counted, " "); got != c.counted {
				t.Errorf("the callers of %q are counted, want %q", got, c.counted)
			}
		})
	}
}

// N11: a reload applies another size and keeps the counts; one that is too small is refused.
func TestN11ReloadChangesTheSizeAndKeepsTheCounts(t *testing.T) {
	server := redistest.Start(t)
	const tenant = "by tenant {http.request.header.X-Tenant} 3 1h"
	g := startSite(t, limitedBy(server, "64MiB", tenant))
	for _, want := range []int{http.StatusOK, http.StatusOK} {
		if p := tenantAsks(t, g, "one"); p.Status != want {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
	}
	if err := g.TryLoad(limitedBy(server, "31MiB", tenant)); err == nil || !strings.Contains(err.Error(), "limiter redis: size is 32505856 bytes, expected 33554432 (32MiB)") {
		t.Errorf("%v", err)
	}
	g.Load(t, limitedBy(server, "128MiB", tenant))
	for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		if p := tenantAsks(t, g, "one"); p.Status != want {
			t.Errorf("N11 after a reload: %d, want %d", p.Status, want)
		}
	}
}

// limitedBy is the site with a limiter in Redis.
func limitedBy(server *redistest.Server, size, policies string) string {
	return strings.NewReplacer(
		"\tgatehouse {", "\tgatehouse {\n\t\tlimiter redis "+server.URL()+" {\n\t\t\tsize "+size+"\n\t\t\ttimeout 5s\n\t\t}",
		"\tapi_errors\n", "\tapi_errors\n\tmap {http.request.header.X-Tenant} {tenant} {\n\t\tdefault \"{http.request.header.X-Tenant}\"\n\t}\n",
		"reverse_proxy $UPSTREAM", "api_limit {\n\t\t"+policies+"\n\t}\n\trespond ok",
	).Replace(site)
}

func tenantAsks(t *testing.T, g *harness.Gateway, tenant string) harness.Page {
	t.Helper()
	return harness.Send(t, http.DefaultClient, http.MethodGet, g.API+"/public", "", "X-Tenant", tenant)
}
