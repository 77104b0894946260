package gateway

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestRefreshTokensRotate(t *testing.T) {
	g, _ := startSite(t, trustingSite, "$TOKENS", "refresh_grace 1s")
	c := newCoder(t, g)
	t.Run("F01 a new one, the same scope, the old access token lives", func(t *testing.T) {
		access, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		p := g.Token(t, web, refreshWith(refresh))
		access2, refresh2 := wantTokens(t, p)
		if refresh2 == refresh || refresh2 == "" || access2 == access || p.JSON(t)["scope"] != "read" {
			t.Errorf("%s", p.Body)
		}
		for _, token := range []string{access, access2} {
			if p := bearer(t, g, "/read", token); p.Status != http.StatusOK {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		}
	})
	t.Run("F01 scope", func(t *testing.T) {
		_, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web", "scope", "read write"), callback)))
		p := g.Token(t, web, with(refreshWith(refresh), "scope", "read"))
		_, refresh = wantTokens(t, p)
		if p.JSON(t)["scope"] != "read" {
			t.Errorf("narrower: %s", p.Body)
		}
		for _, wider := range []string{"read write admin", "admin", "read other"} {
			wantOAuth(t, g.Token(t, web, with(refreshWith(refresh), "scope", wider)), http.StatusBadRequest, "invalid_scope")
		}
		p = g.Token(t, web, refreshWith(refresh))
		if wantTokens(t, p); p.JSON(t)["scope"] != "read write" {
			t.Errorf("the grant keeps its scope: %s", p.Body)
		}
	})
	t.Run("F03 the old one within the grace", func(t *testing.T) {
		_, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		_, first := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		access, again := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		if again != first {
			t.Error("another successor")
		}
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		wantTokens(t, g.Token(t, web, refreshWith(first)))
	})
	t.Run("F02 the old one after the grace", func(t *testing.T) {
		access, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		access2, newest := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		time.Sleep(1200 * time.Millisecond)
		wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
		wantDead(t, g, access)
		wantDead(t, g, access2)
		wantOAuth(t, g.Token(t, web, refreshWith(newest)), http.StatusBadRequest, "invalid_grant")
	})
	t.Run("F02 an older generation within the grace", func(t *testing.T) {
		access, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		_, second := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		_, third := wantTokens(t, g.Token(t, web, refreshWith(second)))
		wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
		wantDead(t, g, access)
		wantOAuth(t, g.Token(t, web, refreshWith(third)), http.StatusBadRequest, "invalid_grant")
	})
	t.Run("F05 five at once", func(t *testing.T) {
		_, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		for _, p := range together(5, func() harness.Page { return g.Token(t, web, refreshWith(refresh)) }) {
			access, next := wantTokens(t, p)
			if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			if next == "" {
				t.Error("no successor")
			}
		}
	})
	t.Run("F07 of another client", func(t *testing.T) {
		_, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		wantOAuth(t, g.Token(t, other, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
		wantOAuth(t, g.Token(t, spa, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
		wantTokens(t, g.Token(t, web, refreshWith(refresh)))
	})
	t.Run("no parts of one, nor other tokens", func(t *testing.T) {
		access, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		for _, bad := range []string{refresh[:len(refresh)-1], refresh + "A", otherStart(refresh), access, c.code("web"), strings.Repeat("A", 75)} {
			wantOAuth(t, g.Token(t, web, refreshWith(bad)), http.StatusBadRequest, "invalid_grant")
		}
		wantTokens(t, g.Token(t, web, refreshWith(refresh)))
	})
}

// together makes n calls that begin at the same moment.
func together(n int, call func() harness.Page) []harness.Page {
	pages := make([]harness.Page, n)
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-gate
			pages[i] = call()
		})
	}
	close(gate)
	wg.Wait()
	return pages
}

func TestRefreshTokensWithoutGrace(t *testing.T) { // F06
	g, _ := startSite(t, trustingSite, "$TOKENS", "refresh_grace 0s")
	c := newCoder(t, g)
	for range 5 {
		access, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		issued, ok := []string{access}, 0
		next := ""
		for _, p := range together(5, func() harness.Page { return g.Token(t, web, refreshWith(refresh)) }) {
			if p.Status == http.StatusOK {
				var a string
				a, next = wantTokens(t, p)
				issued = append(issued, a)
				ok++
				continue
			}
			wantOAuth(t, p, http.StatusBadRequest, "invalid_grant")
		}
		if ok != 1 {
			t.Errorf("F06: %d succeeded", ok)
		}
		for _, a := range issued {
			wantDead(t, g, a)
		}
		wantOAuth(t, g.Token(t, web, refreshWith(next)), http.StatusBadRequest, "invalid_grant")
	}
}

func TestRefreshTokensExpire(t *testing.T) {
	g := startApart(t, site, "$TOKENS", "refresh 4s\n\t\t\trefresh_idle 2s")
	c := newCoder(t, g)
	t.Parallel()
	_, idle := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
	begun := time.Now()
	_, used := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
	for range 2 { // F09: sliding, before the absolute end
		time.Sleep(time.Second)
		_, used = wantTokens(t, g.Token(t, web, refreshWith(used)))
	}
	t.Run("F09 idle", func(t *testing.T) {
		time.Sleep(time.Until(begun.Add(2200 * time.Millisecond)))
		wantOAuth(t, g.Token(t, web, refreshWith(idle)), http.StatusBadRequest, "invalid_grant")
	})
	t.Run("F09 absolute while sliding", func(t *testing.T) {
		time.Sleep(time.Until(begun.Add(3300 * time.Millisecond)))
		_, used = wantTokens(t, g.Token(t, web, refreshWith(used)))
		time.Sleep(time.Until(begun.Add(4300 * time.Millisecond)))
		wantOAuth(t, g.Token(t, web, refreshWith(used)), http.StatusBadRequest, "invalid_grant")
	})
}

func TestChangesThatInvalidateARefreshToken(t *testing.T) {
	g, _ := startSite(t, trustingSite)
	c := newCoder(t, g)
	t.Run("F12 the grant is taken from the client", func(t *testing.T) {
		_, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		g.Load(t, strings.Replace(trustingSite, "grants authorization_code refresh_token client_credentials", "grants authorization_code", 1))
		wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "unauthorized_client")
		g.Load(t, trustingSite)
		wantTokens(t, g.Token(t, web, refreshWith(refresh)))
	})
	t.Run("F10 the user is locked", func(t *testing.T) {
		access, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		rewriteUsers(t, g, lockedUsers)
		wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
		wantDead(t, g, access)
		rewriteUsers(t, g, users)
		wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant") // for good
	})
}
