package authserver_test

import (
	"context"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/store"
)

// accounts is a store that notes whose account each reading is on.
type accounts struct {
	store.Backend
	seen map[*store.Waited]int
}

func (a *accounts) Get(ctx context.Context, key store.Key) (store.Record, error) {
	a.seen[store.WaitedIn(ctx)]++
	return a.Backend.Get(ctx, key)
}

func TestCallsOfOneRequestShareOneTimeBudget(t *testing.T) { // E05
	noted := &accounts{seen: map[*store.Waited]int{}}
	g := newTokenRig(t, func(c *authserver.Config) { noted.Backend, c.Store = c.Store, noted })
	code := redeemWeb(g.code())
	clear(noted.seen)
	g.want(g.token(code), 200, "")
	if n := noted.seen[nil]; n > 0 || len(noted.seen) != 1 {
		t.Errorf("%d calls on none, %d accounts", n, len(noted.seen))
	}
	g.want(g.token(code), 400, "invalid_grant")
	if n := noted.seen[nil]; n > 0 || len(noted.seen) != 2 {
		t.Errorf("after a second request %d calls on none, %d accounts", n, len(noted.seen))
	}
}
