package gateway

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// again authorizes once more in a browser that is signed in and whose consent is
// remembered, and redeems the code.
func again(t *testing.T, g *harness.Gateway, b *harness.Browser, c harness.Credentials) (access, refresh string) {
	t.Helper()
	back := locate(t, b.Get(authorizeURL(g, c.ID)))
	redirect := map[string]string{"spa": spaCallback, "other": otherCallback, "web": callback}[c.ID]
	return wantTokens(t, g.Token(t, c, exchange(back.Query().Get("code"), redirect)))
}

func locate(t *testing.T, p harness.Page) *url.URL {
	t.Helper()
	u, err := url.Parse(p.Header.Get("Location"))
	if err != nil || p.Status/100 != 3 {
		t.Fatalf("%d to %q: %.300s", p.Status, p.Header.Get("Location"), p.Body)
	}
	return u
}

const evictions = "caddy_gatehouse_grants_evicted_total"

func TestGrantsPerUserAreLimited(t *testing.T) {
	t.Run("N02 a loop with a remembered consent ends the oldest unused grant", func(t *testing.T) {
		g, _ := start(t, "$TOKENS", "grants_per_user 5")
		b, _, refresh := allowed(t, g, web, username)
		_, otherAccess, otherRefresh := allowed(t, g, other, username)
		all := []string{refresh}
		_, second := again(t, g, b, web)
		for range 3 {
			_, refresh := again(t, g, b, web)
			all = append(all, refresh)
		}
		// Of the five the first is used now, so that the second is the oldest unused.
		_, all[0] = wantTokens(t, g.Token(t, web, refreshWith(all[0])))
		wantTokens(t, g.Token(t, web, refreshWith(second)))
		all = append(all, second)
		before := g.Metric(t, evictions)
		for range 7 {
			_, refresh := again(t, g, b, web)
			all = append(all, refresh)
		}
		live := 0
		for _, refresh := range all {
			if p := g.Token(t, web, refreshWith(refresh)); p.Status == http.StatusOK {
				live++
			} else {
				wantOAuth(t, p, http.StatusBadRequest, "invalid_grant")
			}
		}
		if live != 5 {
			t.Errorf("%d grants live, want 5", live)
		}
		wantTokens(t, g.Token(t, other, refreshWith(otherRefresh)))
		if p := bearer(t, g, "/read", otherAccess); p.Status != http.StatusOK {
			t.Errorf("another application: %d", p.Status)
		}
		if n := g.Metric(t, evictions) - before; n != 7 {
			t.Errorf("%v evictions are counted, want 7", n)
		}
	})
	t.Run("N02 the one that was not used for longest ends, with its access token", func(t *testing.T) {
		g, _ := start(t, "$TOKENS", "grants_per_user 3")
		b, access, first := allowed(t, g, web, username)
		secondAccess, second := again(t, g, b, web)
		_, third := again(t, g, b, web)
		_, first = wantTokens(t, g.Token(t, web, refreshWith(first)))
		_, fourth := again(t, g, b, web)
		wantOAuth(t, g.Token(t, web, refreshWith(second)), http.StatusBadRequest, "invalid_grant")
		wantDead(t, g, secondAccess)
		for _, refresh := range []string{first, third, fourth} {
			wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		}
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
			t.Errorf("the access token of a grant in use: %d", p.Status)
		}
	})
	t.Run("N02 sign-out everywhere and a withdrawn application end all at once", func(t *testing.T) {
		g, _ := start(t)
		b, _, _ := allowed(t, g, web, username)
		otherBrowser, otherAccess, otherRefresh := allowed(t, g, other, username)
		var webs []string
		var access []string
		for range 20 {
			a, r := again(t, g, b, web)
			webs, access = append(webs, r), append(access, a)
		}
		p := accountOf(t, g, b, username)
		wantPage(t, press(b, p, "withdraw", harness.Buttons(t, p, "withdraw")[1]), http.StatusOK)
		for i := range webs {
			wantOAuth(t, g.Token(t, web, refreshWith(webs[i])), http.StatusBadRequest, "invalid_grant")
			wantDead(t, g, access[i])
		}
		wantTokens(t, g.Token(t, other, refreshWith(otherRefresh)))
		if p := bearer(t, g, "/read", otherAccess); p.Status != http.StatusOK {
			t.Errorf("another application: %d", p.Status)
		}
		var others []string
		for range 20 {
			_, r := again(t, g, otherBrowser, other)
			others = append(others, r)
		}
		wantPage(t, press(b, accountOf(t, g, b, username), "all", "everything"), http.StatusOK)
		for _, refresh := range others {
			wantOAuth(t, g.Token(t, other, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
		}
		wantDead(t, g, otherAccess)
		wantSignedOut(t, g, b)
		wantSignedOut(t, g, otherBrowser)
	})
	t.Run("N02 the codes of one user are limited", func(t *testing.T) {
		g, _ := start(t)
		b, _, _ := allowed(t, g, web, username)
		bob, _, _ := allowed(t, g, web, "bob")
		limited := 0
		for range 65 {
			back := locate(t, b.Get(authorizeURL(g, "web"))).Query()
			switch {
			case back.Get("error") == "temporarily_unavailable" && back.Get("state") == "S" && back.Get("iss") != "" && back.Get("code") == "":
				limited++
			case back.Get("code") == "":
				t.Fatalf("%v", back)
			}
		}
		if limited != 6 { // one of the sixty was had before
			t.Errorf("%d of 65 were refused, want 6", limited)
		}
		again(t, g, bob, web)
	})
}
