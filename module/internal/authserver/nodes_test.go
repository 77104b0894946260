package authserver_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// nodes are two servers that have nothing in common but the store and the configuration:
// keys, revocations and caches are each one's own.
type nodes [2]*tokenRig

func newNodes(t *testing.T) nodes {
	t.Helper()
	first := newBrowserRig(t)
	var v *token.Verifier
	second := newBrowserRig(t, func(c *authserver.Config) {
		shared := first.store.Memory
		revocations, err := revocationlist.New(revocationlist.Config{
			Store: shared, Now: c.Now, MaxTokenLife: func() time.Duration { return time.Hour },
		})
		first.must(err)
		ring, err := keyring.New(keyring.Config{Store: shared, Keys: c.Keys, Revocations: revocations, Now: c.Now})
		first.must(err)
		issuer, err := token.NewIssuer(token.IssuerConfig{Ring: ring, Issuer: tokenIssuer, IDAlgs: []string{"ES256"}, Now: c.Now})
		first.must(err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); _ = revocations.Run(ctx) }()
		t.Cleanup(func() { stop(); <-done })
		v, err = token.NewVerifier(token.VerifierConfig{Ring: ring, Revocations: revocations, Now: c.Now})
		first.must(err)
		c.Store, c.Tokens, c.Revocations, c.Verifier = first.store, issuer, revocations, v
	})
	second.verifier = v
	return nodes{first, second}
}

// on is the same browser, whose next request another node gets.
func (b *tab) on(g *tokenRig) *tab { return &tab{g, b.cookies} }

// dies waits until both nodes refuse an access token.
func (n nodes) dies(access string) {
	n[0].t.Helper()
	for i, g := range n {
		for deadline := time.Now().Add(time.Second); g.alive(access); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				g.t.Fatalf("node %d still takes the token", i)
			}
		}
	}
}

// A43: the request travels in the form and all else is in the store, so a node that is
// lost on the way takes nothing with it.
func TestAnotherNodeFinishesWhatOneBegan(t *testing.T) {
	for name, at := range map[string][4]int{ // who answers: the request, the sign-in, the consent, the token request
		"lost before the sign-in": {0, 1, 1, 1},
		"lost before the consent": {0, 0, 1, 1},
		"lost with the code out":  {0, 0, 0, 1},
		"in turn":                 {0, 1, 0, 1},
	} {
		t.Run("A43 "+name, func(t *testing.T) {
			n := newNodes(t)
			b := n[at[0]].browser()
			login := b.get(authorizeURL(webRequest()))
			n[0].isLogin(login)
			consent := b.on(n[at[1]]).signIn(login, "ann", annsPassword)
			n[0].isConsent(consent)
			code := n[0].issued(b.on(n[at[2]]).submit(consent, "decision", "allow"), http.StatusSeeOther)
			first := n[0].want(n[at[3]].token(redeemWeb(code)), 200, "")
			for i, g := range n {
				if !g.alive(first.tokens.Access) {
					t.Errorf("node %d does not know the token", i)
				}
			}
			// The session and the consent are everybody's, and so is the family.
			n[0].issued(b.on(n[1-at[3]]).get(authorizeURL(webRequest().with("prompt", "none"))), http.StatusFound)
			second := n[0].want(n[1-at[3]].token(refreshWeb(first.tokens.Refresh)), 200, "")
			// A replay at the one ends what the other has issued.
			n[0].want(n[1-at[3]].token(redeemWeb(code)), 400, "invalid_grant")
			n.dies(first.tokens.Access)
			n.dies(second.tokens.Access)
			for _, g := range n {
				n[0].want(g.token(refreshWeb(second.tokens.Refresh)), 400, "invalid_grant")
			}
		})
	}
}

// C14 across nodes: no lock of one process helps the other.
func TestParallelExchangesAtTwoNodesSucceedOnce(t *testing.T) {
	n := newNodes(t)
	for range 20 {
		code := n[0].code()
		answers := make([]answer, 64)
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				<-start
				answers[i] = n[i%2].token(redeemWeb(code))
			})
		}
		close(start)
		all.Wait()
		if count := tally(answers); count[200] != 1 || count[400] != 63 {
			t.Fatalf("answers by status: %v", count)
		}
		for _, a := range answers {
			if a.status == 400 {
				n[0].want(a, 400, "invalid_grant")
				continue
			}
			n.dies(a.tokens.Access) // the replays killed what the winner got
			n[0].want(n[1].token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
		}
	}
}
