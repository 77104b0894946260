package authserver_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// cutIn is a store that calls back before each operation.
type cutIn struct {
	store.Backend
	mu  sync.Mutex
	ops int
	at  int // the number of the operation before which do is called, from 1
	do  func()
}

// arm counts from now on and calls do before operation n.
func (c *cutIn) arm(n int, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ops, c.at, c.do = 0, n, do
}

// fired reports whether there was an operation n.
func (c *cutIn) fired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.do == nil
}

func (c *cutIn) op() {
	c.mu.Lock()
	c.ops++
	var do func()
	if c.do != nil && c.ops == c.at {
		do, c.do = c.do, nil
	}
	c.mu.Unlock()
	if do != nil {
		do()
	}
}

func (c *cutIn) Get(ctx context.Context, k store.Key) (store.Record, error) {
	c.op()
	return c.Backend.Get(ctx, k)
}

func (c *cutIn) Create(ctx context.Context, r store.Record) (store.Record, error) {
	c.op()
	return c.Backend.Create(ctx, r)
}

func (c *cutIn) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	c.op()
	return c.Backend.Swap(ctx, r)
}

func (c *cutIn) Delete(ctx context.Context, k store.Key) error {
	c.op()
	return c.Backend.Delete(ctx, k)
}

func (c *cutIn) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	c.op()
	return c.Backend.List(ctx, kind, parent, after, limit)
}

func (c *cutIn) Confirm(ctx context.Context, k store.Key) error {
	return store.Confirm(ctx, c.Backend, k)
}

func (c *cutIn) ConfirmList(ctx context.Context, kind store.Kind, parent string) error {
	return store.ConfirmList(ctx, c.Backend, kind, parent)
}

// endRig is a rig with two users, an audit trail and a store to cut in on. Its clock
// passes the time that an end waits.
type endRig struct {
	*tokenRig
	cut   *cutIn
	trail *trail
}

func newEndRig(t *testing.T, change ...func(*authserver.Config)) *endRig {
	t.Helper()
	g := &endRig{cut: &cutIn{}, trail: &trail{}}
	g.tokenRig = newBrowserRig(t, append([]func(*authserver.Config){twoUsers, func(c *authserver.Config) {
		g.cut.Backend = c.Store
		c.Store, c.Audit = g.cut, g.trail
	}}, change...)...)
	g.pass(300 * time.Millisecond) // not on the second
	return g
}

func (g *endRig) endAnn() {
	g.t.Helper()
	g.must(g.server.EndSubject(g.t.Context(), "u1"))
}

// allow signs in at a new browser, allows a request and returns browser and code.
func (g *endRig) allow(p params, username, password string) (*tab, string) {
	g.t.Helper()
	b := g.browser()
	at := b.signIn(b.get(authorizeURL(p)), username, password)
	if at.header.Get("Location") == "" {
		at = b.submit(at, "decision", "allow")
	}
	return b, g.issued(at, http.StatusSeeOther)
}

// tokens does the same and redeems the code of web.
func (g *endRig) tokens(username, password string) (*tab, answer) {
	g.t.Helper()
	b, code := g.allow(webRequest(), username, password)
	return b, g.want(g.token(redeemWeb(code)), 200, "")
}

func (g *endRig) isDead(a answer) {
	g.t.Helper()
	if g.alive(a.tokens.Access) {
		g.t.Error("the access token lives")
	}
	g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
}

func (g *endRig) lives(a answer) {
	g.t.Helper()
	if !g.alive(a.tokens.Access) {
		g.t.Error("the access token is dead")
	}
	g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "")
}

func (g *endRig) count(kind store.Kind, subject string) int {
	g.t.Helper()
	if kind == store.KindCode {
		return len(codesOf(g.t, g.store.Memory, subject))
	}
	all, err := g.store.List(g.t.Context(), kind, subject, "", 10_000)
	g.must(err)
	return len(all)
}

// dead reports whether a grant can be refreshed no more.
func (g *endRig) dead(v store.Grant) bool {
	g.t.Helper()
	ended, err := ending.Ended(g.t.Context(), g.store, v.Subject, v.Client, v.Epochs)
	g.must(err)
	return ended || v.Revoked()
}

// sweep has the clean-up run until nothing is left to do, which takes two passes.
func (g *endRig) sweep() {
	g.t.Helper()
	s, err := ending.NewSweeper(ending.SweeperConfig{Store: g.store, Revocations: g.revoker, Now: g.now})
	g.must(err)
	for range 2 {
		for more := true; more; {
			more, err = s.Sweep(g.t.Context())
			g.must(err)
		}
		g.pass(time.Minute)
	}
}

func selfRegistered(c *oauth.Client) { c.SelfRegistered, c.Name = true, "Your bank" }
