package authserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// V09: the first attempt to end a grant fails at any operation, its client goes on refreshing, and a later attempt is
// acknowledged: what was issued in between is dead on every node until it expires, though the first notice is gone.
func TestRepeatedEndAfterAFaultHoldsOnEveryNode(t *testing.T) {
	const between, after = 50 * time.Minute, 20 * time.Minute // access tokens live an hour
	for way, end := range map[string]func(g *tokenRig, code, oldest, latest string) answer{
		"revoked":          func(g *tokenRig, _, _, latest string) answer { return g.revoke(asWeb(latest)) },
		"code replayed":    func(g *tokenRig, code, _, _ string) answer { return g.token(redeemWeb(code)) },
		"refresh replayed": func(g *tokenRig, _, oldest, _ string) answer { return g.token(refreshWeb(oldest)) },
	} {
		for _, lost := range []bool{false, true} {
			for n, more := 1, true; more && !t.Failed(); n++ {
				t.Run(fmt.Sprintf("%s, operation %d, lost reply %v", way, n, lost), func(t *testing.T) {
					nodes := newNodes(t)
					g := nodes[0]
					code := g.code()
					first := g.want(g.token(redeemWeb(code)), 200, "")
					second := g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
					latest := g.want(g.token(refreshWeb(second.tokens.Refresh)), 200, "")
					g.store.plan(n, n, lost, errLost)
					a := end(g, code, first.tokens.Refresh, latest.tokens.Refresh)
					more = n <= len(g.store.done())
					g.store.plan(0, 0, false, nil)
					for _, g := range nodes {
						g.pass(between)
					}
					if refreshed := g.token(refreshWeb(latest.tokens.Refresh)); refreshed.status == 200 {
						latest = refreshed
					}
					if a.status == 503 {
						a = end(g, code, first.tokens.Refresh, latest.tokens.Refresh)
					}
					if a.status == 503 {
						t.Fatalf("%d %s", a.status, a.body)
					}
					for _, g := range nodes {
						g.pass(after)
					}
					nodes.dies(latest.tokens.Access)
					if aliveAtStart(t, g, latest.tokens.Access) {
						t.Error("a node that starts later takes the token")
					}
				})
			}
		}
	}
}

// aliveAtStart reports whether a guard that starts now takes the access token.
func aliveAtStart(t *testing.T, g *tokenRig, access string) bool {
	t.Helper()
	revocations := must(revocationlist.New(revocationlist.Config{Store: g.store.Memory, Now: g.now, MaxTokenLife: func() time.Duration { return time.Hour }}))
	keys := must(secret.NewKeys(bytes.Repeat([]byte("k"), 32)))
	ring := must(keyring.New(keyring.Config{Store: g.store.Memory, Keys: func(context.Context) (*secret.Keys, error) { return keys, nil }, Revocations: revocations, Now: g.now}))
	v := must(token.NewVerifier(token.VerifierConfig{Ring: ring, Revocations: revocations, Now: g.now}))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = revocations.Run(ctx) }()
	defer func() { stop(); <-done }()
	g.must(revocations.WaitLoaded(ctx))
	_, err := v.Verify(ctx, access)
	if err != nil && !errors.Is(err, token.ErrInvalid) {
		t.Fatal(err)
	}
	return err == nil
}
