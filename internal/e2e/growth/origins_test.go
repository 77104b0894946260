package growth

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/store/bolt"
)

const site = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		level ERROR
	}
	gatehouse {
		issuer http://$ID
		secret {env.GATEHOUSE_TEST_SECRET}
		store %s
		users file $DIR/users.json
		scope read "Read"
		client web {
			public
			redirect_uri https://app.example/callback
			scopes openid read
		}
	}
}
http://$ID {
	oauth_server
}
`

// A preflight names no client: what the first one of an origin costs with many clients in the store.
func TestPreflightCostWithManyStoredClients(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_SECRET", "a-secret-of-a-test-0123456789-0123456789")
	for _, n := range sizes(1500, 10_000) {
		g := harness.Prepare(t)
		b, err := bolt.Open(bolt.Options{Path: filepath.Join(g.Dir, "state.db")})
		if err != nil {
			t.Fatal(err)
		}
		makeClients(t, b, n)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		g.WriteFile(t, "users.json", `{"users":[]}`)
		g.Start(t, fmt.Sprintf(site, "bolt $DIR/state.db"))
		client := harness.NewBrowser(t, "").Client
		preflight := func(i int) (time.Duration, bool) {
			origin := fmt.Sprintf("https://c%05d.example", i)
			begun := time.Now()
			p := harness.Send(t, client, http.MethodOptions, g.ID+"/token", "", "Origin", origin, "Access-Control-Request-Method", "POST")
			return time.Since(begun), p.Header.Get("Access-Control-Allow-Origin") == origin
		}
		first, ok := preflight(0)
		var took, unknown []time.Duration
		for i := range 200 {
			d, known := preflight(1 + i*(n-1)/200)
			took, ok = append(took, d), ok && known
			d, known = preflight(n + i)
			unknown, ok = append(unknown, d), ok && !known
		}
		if !ok {
			t.Errorf("%d clients: a wrong answer", n)
		}
		t.Logf("| %6d clients in the store | first preflight %v, then of a client %v, of nobody %v (medians) |", n, first, median(took), median(unknown))
	}
}

func makeClients(t *testing.T, b store.Backend, n int) {
	t.Helper()
	clients, err := gatewaytest.NewClients(b)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	const writers = 64
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n; i += writers {
				id := fmt.Sprintf("c%05d", i)
				_, _, err := clients.Create(t.Context(), gatewaytest.Client{Client: oauth.Client{
					ID: id, Public: true, RedirectURIs: []string{"https://" + id + ".example/cb"}, Scopes: []string{"read"},
				}})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
