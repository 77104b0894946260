package authserver_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

// unsteadyUsers is a directory that for a while does not know anybody, or does not answer.
type unsteadyUsers struct {
	directory.Directory
	state atomic.Value // a string
}

func (u *unsteadyUsers) Lookup(ctx context.Context, id string) (directory.User, bool, error) {
	switch u.state.Load() {
	case "unknown":
		return directory.User{}, false, nil
	case "away":
		return directory.User{}, false, errors.New("the directory is away")
	case "hanging":
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
		return directory.User{}, false, errors.New("the directory did not answer")
	}
	return u.Directory.Lookup(ctx, id)
}

// U06: a browser is not told that it is signed out while its session lives on, and can sign out without the directory.
func TestSignOutDoesNotDependOnTheDirectory(t *testing.T) {
	for _, state := range []string{"unknown", "away", "hanging"} {
		t.Run(state, func(t *testing.T) {
			users := &unsteadyUsers{}
			g := newOpenIDRig(t, func(c *authserver.Config) { users.Directory, c.Directory = c.Directory, users })
			start := func() (b, stolen *tab, hint string) {
				users.state.Store("")
				b = g.signedInAs("ann", "x")
				hint = g.tokensOf(b, rpRequest()).id
				g.events.told()
				users.state.Store(state)
				return b, &tab{g.tokenRig, map[string]string{sessionCookie: b.cookies[sessionCookie], browserCookie: b.browserID()}}, hint
			}
			ended := func(b, stolen *tab, client string) {
				t.Helper()
				if got := g.events.told(); got != strings.TrimSpace("sign_out "+client)+" u1" {
					t.Errorf("recorded: %s", got)
				}
				if b.cookies[sessionCookie] != "" {
					t.Error("the cookie stays")
				}
				users.state.Store("")
				g.isSignedIn(b, false)
				g.isSignedIn(stolen, false)
			}

			b, stolen, hint := start()
			g.gone(b.get(bye(params{"id_token_hint": hint, "post_logout_redirect_uri": rpBye})), http.StatusFound, rpBye)
			ended(b, stolen, "rp")

			b, stolen, _ = start()
			asked := b.get(bye(params{"client_id": "rp", "post_logout_redirect_uri": rpBye}))
			if asked.status != http.StatusOK || !strings.Contains(asked.body, `action="/auth/logout"`) || strings.Contains(asked.body, ">ann<") {
				t.Fatalf("not asked: %d %v %s", asked.status, asked.header, asked.body)
			}
			users.state.Store("")
			g.isSignedIn(b, true) // a link alone signs nobody out
			g.events.told()
			users.state.Store(state)
			g.gone(b.submit(asked), http.StatusSeeOther, rpBye)
			ended(b, stolen, "rp")
		})
	}
}
