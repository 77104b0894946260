package growth

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/store/redis"
)

// Two nodes on one Redis with 1, 2 and 10 times as many revocations alive as they have room for, all of one client that
// revokes in a loop: nothing revoked is valid, and nobody else's tokens are refused.
func TestRevocationsAboveTheirLimit(t *testing.T) {
	const room = 200
	master := gatewaytest.Token()
	for _, limit := range sizes(room, 50*room) {
		for _, times := range []int{1, 2, 10} {
			s := openRedis(t)
			writer := gatewaytest.NewTokensWithin(t, s, master, limit)
			if err := writer.AwaitRevocations(t.Context()); err != nil {
				t.Fatal(err)
			}
			honest, revoked := issue(t, writer, "honest", "grant"), issue(t, writer, "in a loop", "grant 0")
			began, n := time.Now(), times*limit
			inParallel(16, n, func(i int) {
				if err := writer.RevokeOf(t.Context(), "in a loop", fmt.Sprint("grant ", i)); err != nil {
					t.Errorf("revocation %d: %v", i, err)
				}
			})
			each := time.Since(began) / time.Duration(n)
			began = time.Now()
			late := gatewaytest.NewTokensWithin(t, s, master, limit)
			if err := late.AwaitRevocations(t.Context()); err != nil {
				t.Fatal(err)
			}
			loaded := time.Since(began)
			for name, node := range map[string]*gatewaytest.Tokens{"the node that revoked": writer, "a node that starts": late} {
				if held := node.RevocationsHeld(); held > limit {
					t.Errorf("%d x: %s holds %d revocations of %d", times, name, held, limit)
				}
				for _, token := range []string{honest, issue(t, node, "honest", "new")} {
					if _, err := node.Verify(t.Context(), token); err != nil {
						t.Errorf("%d x: %s refuses a token of another client: %v", times, name, err)
					}
				}
				if _, err := node.Verify(t.Context(), revoked); !errors.Is(err, gatewaytest.ErrInvalid) {
					t.Errorf("%d x: %s takes a revoked token: %v", times, name, err)
				}
			}
			t.Logf("| %7d revocations alive, room for %d | %v a revocation, %d held, a node has read them in %v |",
				n, limit, each.Round(time.Microsecond), late.RevocationsHeld(), loaded.Round(time.Millisecond))
		}
	}
}

func issue(t *testing.T, node *gatewaytest.Tokens, client, grant string) string {
	t.Helper()
	token, err := node.IssueTo(t.Context(), client, grant)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// openRedis opens a store on a server of its own.
func openRedis(t *testing.T) store.Backend {
	t.Helper()
	m := new(redis.Redis)
	m.URL, m.Timeout = redistest.Start(t).URL(), caddy.Duration(10*time.Second)
	if err := m.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	s, err := m.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
