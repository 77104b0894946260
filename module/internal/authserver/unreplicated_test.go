package authserver_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/store"
)

var errAlone = errors.New("no replica")

// What an attempt without replicas has changed, the next one reads. It is not told that it is done: a failover would
// sign the browser in again.
func TestRepeatedSignOutIsDoneOnceAReplicaHasIt(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(g *endRig, here *tab) (press func() page)
		ended   func(here, other *tab) *tab
	}{
		"other browsers": {
			func(g *endRig, here *tab) func() page {
				p := g.account(here)
				return func() page { return here.submit(p, "all", "others") }
			},
			func(_, other *tab) *tab { return other },
		},
		"one other browser": {
			func(g *endRig, here *tab) func() page {
				p := g.account(here)
				return func() page { return here.submit(p, "end", p.buttons("end")[1]) }
			},
			func(_, other *tab) *tab { return other },
		},
		"everywhere": {
			func(g *endRig, here *tab) func() page {
				p := g.account(here)
				return func() page { return here.submit(p, "all", "everything") }
			},
			func(_, other *tab) *tab { return other },
		},
		"here, by a client": {
			func(_ *endRig, here *tab) func() page {
				form, pressed := here.get(tokenIssuer+"/logout"), false
				return func() page {
					if pressed { // there is no session left whose form it could be
						return here.get(tokenIssuer + "/logout")
					}
					pressed = true
					return here.submit(form)
				}
			},
			func(here, _ *tab) *tab { return here },
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newEndRig(t)
			here, other := g.browser(), g.browser()
			for _, b := range []*tab{here, other} {
				b.signIn(b.get(accountURL), "ann", annsPassword)
			}
			press := c.prepare(g, here)
			g.store.LoseReplicas(errAlone)
			for i := range 3 {
				if p := press(); p.status != http.StatusServiceUnavailable {
					t.Errorf("attempt %d without a replica: %d", i+1, p.status)
				}
			}
			g.store.LoseReplicas(nil)
			if p := press(); p.status != http.StatusOK {
				t.Errorf("with one: %d %s", p.status, p.body)
			}
			g.isLogin(c.ended(here, other).get(accountURL))
		})
	}
}

func TestRepeatedEndOfAGrantIsDoneOnceAReplicaHasIt(t *testing.T) {
	g := newEndRig(t)
	g.tokens("ann", annsPassword)
	all, err := g.store.List(t.Context(), store.KindGrant, "u1", "", 10)
	g.must(err)
	for _, id := range []string{all[0].ID, "expired"} {
		g.must(g.server.EndGrant(t.Context(), "u1", id))
		g.store.LoseReplicas(errAlone)
		if err := g.server.EndGrant(t.Context(), "u1", id); !errors.Is(err, errAlone) {
			t.Errorf("%s: %v", id, err)
		}
		g.store.LoseReplicas(nil)
		g.must(g.server.EndGrant(t.Context(), "u1", id))
	}
}

// listsUnconfirmed confirms nothing of what a list does not have.
type listsUnconfirmed struct{ store.Backend }

func (listsUnconfirmed) ConfirmList(context.Context, store.Kind, string) error { return errAlone }

func (s listsUnconfirmed) Confirm(ctx context.Context, k store.Key) error {
	return store.Confirm(ctx, s.Backend, k)
}

func TestUserIsForgottenOnceAReplicaHasIt(t *testing.T) {
	g := newEndRig(t)
	g.must(g.server.ForgetSubject(t.Context(), "u1"))
	g = newEndRig(t, func(c *authserver.Config) { c.Store = listsUnconfirmed{c.Store} })
	if err := g.server.ForgetSubject(t.Context(), "u1"); !errors.Is(err, errAlone) {
		t.Error(err)
	}
}
