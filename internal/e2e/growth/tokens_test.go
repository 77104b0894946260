package growth

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// With more tokens in use than the cache holds a request costs what verifying its token costs, and none is refused.
func TestMoreTokensThanTheCacheHolds(t *testing.T) {
	const fits = 4000 // in 2 MiB
	machine := harness.Credentials{ID: "machine", Secret: "0123456789-0123456789-0123456789"}
	for _, n := range sizes(fits, 2*fits, 10*fits) {
		g := harness.Prepare(t)
		g.WriteFile(t, "users.json", `{"users":[]}`)
		g.Start(t, `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		level ERROR
	}
	metrics
	gatehouse {
		issuer http://$ID
		store bolt $DIR/state.db
		users file $DIR/users.json
		token_cache 2MiB
		scope read "Read"
		client machine {
			secret 0123456789-0123456789-0123456789
			grants client_credentials
			scopes read
		}
	}
}
http://$ID {
	oauth_server
}
http://$API {
	oauth_guard {
		scope read /*
	}
	respond ok
}
`)
		tokens := make([]string, n)
		for i := range tokens {
			res := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}})
			var ok bool
			if tokens[i], ok = res.JSON(t)["access_token"].(string); !ok {
				t.Fatalf("token %d: %d %s", i, res.Status, res.Body)
			}
		}
		call := func() {
			for i, token := range tokens {
				r, err := http.NewRequest(http.MethodGet, g.API+"/", nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+token)
				if res := harness.Do(t, http.DefaultClient, r); res.Status != http.StatusOK {
					t.Fatalf("request %d of %d: %d %s", i, n, res.Status, res.Body)
				}
			}
		}
		call()
		hits, misses := g.Metric(t, "caddy_gatehouse_token_cache_hits_total"), g.Metric(t, "caddy_gatehouse_token_cache_misses_total")
		begun := time.Now()
		call()
		took := time.Since(begun) / time.Duration(n)
		hits, misses = g.Metric(t, "caddy_gatehouse_token_cache_hits_total")-hits, g.Metric(t, "caddy_gatehouse_token_cache_misses_total")-misses
		bytes := g.Metric(t, "caddy_gatehouse_token_cache_bytes")
		t.Logf("| %6d tokens in use, token_cache 2MiB | %.0f bytes, %.0f %% found, %v a request |", n, bytes, 100*hits/(hits+misses), took)
		if size := g.Metric(t, "caddy_gatehouse_token_cache_max_bytes"); size != 2<<20 {
			t.Errorf("the size is %.0f bytes, expected 2 MiB", size)
		}
		if bytes > 2<<20 {
			t.Errorf("%.0f bytes are held, expected at most 2 MiB", bytes)
		}
	}
}
