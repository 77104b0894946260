package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// U29: a directory that does not know the user for a moment, or does not answer, keeps nobody signed in. The page must
// not say "signed out" while the session lives on.
func TestSignOutWithoutTheDirectory(t *testing.T) {
	var status atomic.Int64 // of a look at the user
	legacy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := status.Load(); s != http.StatusOK && r.URL.Path != "/login" {
			w.WriteHeader(int(s))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"id": 7, "name": "Alice"})
	}))
	defer legacy.Close()
	g := harness.Prepare(t, "$UPSTREAM", harness.NewUpstream(t).Addr, "$TOKENS", "", "$GUARD", "", "$LIMIT", "", "$GLOBAL", partyClient("es", ""), "$LEGACY", legacy.URL)
	g.Start(t, withUsers(`users http $LEGACY/login {
			lookup $LEGACY/users/{id}
			fields {
				id /id
				name /name
			}
		}`))
	p := newParty(t, g, "es")
	for name, code := range map[string]int64{"unknown": http.StatusNotFound, "away": http.StatusInternalServerError} {
		t.Run("U29 "+name, func(t *testing.T) {
			start := func() (b, stolen *harness.Browser, hint string) {
				status.Store(http.StatusOK)
				b, stolen = harness.NewBrowser(t, g.ID), harness.NewBrowser(t, g.ID)
				hint = rawID(t, p.signIn(b, username, "n"))
				u, err := url.Parse(g.ID)
				harness.FailOn(t, err)
				stolen.Client.Jar.SetCookies(u, b.Client.Jar.Cookies(u))
				status.Store(code)
				return b, stolen, hint
			}
			ended := func(b, stolen *harness.Browser) {
				t.Helper()
				status.Store(http.StatusOK)
				if session(t, g, b) != "" {
					t.Error("the cookie stays")
				}
				wantError(t, g, stolen.Get(p.config.AuthCodeURL("S")+"&prompt=none"), partyTo, "login_required")
			}
			b, stolen, hint := start()
			out := g.ID + "/logout?post_logout_redirect_uri=" + url.QueryEscape(partyBye)
			if p := b.Get(out + "&id_token_hint=" + hint); p.Status != http.StatusFound || p.Header.Get("Location") != partyBye {
				t.Errorf("with a hint: %d %s", p.Status, p.Header.Get("Location"))
			}
			ended(b, stolen)

			b, stolen, _ = start()
			asked := b.Get(g.ID + "/logout")
			if asked.Status != http.StatusOK || !strings.Contains(asked.Body, `action="/logout"`) || session(t, g, b) == "" {
				t.Fatalf("not asked: %d %s", asked.Status, asked.Body)
			}
			wantPage(t, b.Submit(asked, nil), http.StatusOK)
			ended(b, stolen)
		})
	}
}
