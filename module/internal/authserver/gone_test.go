package authserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// What failed because the client has gone is no fault of the gateway: otherwise anybody could raise alerts and fill the
// log with errors. It is one if the store gave up by itself.
func TestAClientThatHasGoneIsNoFault(t *testing.T) { // N03
	secrets := params{"client_id": "web", "client_secret": webSecret}
	form := func(path string, p params) func(*tokenRig) *http.Request {
		return func(*tokenRig) *http.Request {
			r := httptest.NewRequest(http.MethodPost, tokenIssuer+path, strings.NewReader(p.encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return r
		}
	}
	ofRefreshToken := func(path string) func(*tokenRig) *http.Request {
		return func(g *tokenRig) *http.Request {
			token := g.begin().tokens.Refresh
			return form(path, secrets.with("grant_type", "refresh_token").with("refresh_token", token).with("token", token))(g)
		}
	}
	for name, c := range map[string]struct {
		request func(*tokenRig) *http.Request
		counted string
	}{
		"token":         {ofRefreshToken("/token"), "refresh_token"},
		"introspection": {ofRefreshToken("/introspect"), "introspect"},
		"revocation":    {ofRefreshToken("/revoke"), "revoke"},
		"push":          {form("/par", webRequest().with("client_secret", webSecret)), ""},
		"site": {func(g *tokenRig) *http.Request {
			wx(g)
			return httptest.NewRequest(http.MethodGet, tokenIssuer+"/sns/oauth2/refresh_token?"+refreshWX(g.snsSignIn().Refresh).encode(), nil)
		}, "variantb_refresh_token"},
		"page": {func(g *tokenRig) *http.Request {
			r := httptest.NewRequest(http.MethodGet, accountURL, nil)
			for name, value := range g.signedIn().cookies {
				r.AddCookie(&http.Cookie{Name: name, Value: value})
			}
			return r
		}, ""},
	} {
		for _, gone := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				g := newBrowserRig(t)
				r := c.request(g)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				want := http.StatusServiceUnavailable
				if gone {
					want = httpx.StatusClientGone
					leave()
				}
				w := httptest.NewRecorder()
				logged := len(g.log.String())
				g.store.plan(1, forever, false, context.Canceled)
				g.server.ServeHTTP(w, r.WithContext(ctx))
				if w.Code != want {
					t.Errorf("gone %t: %d, expected %d: %s", gone, w.Code, want, w.Body)
				}
				if told := g.log.String()[logged:]; strings.Contains(told, "not answered") == gone {
					t.Errorf("gone %t: the log has %q", gone, told)
				}
				if c.counted != "" && (g.metrics.last() == c.counted+" client_gone") != gone {
					t.Errorf("gone %t: counted as %q", gone, g.metrics.last())
				}
			})
		}
	}
}
