package gateway

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

var till = harness.Credentials{ID: "till", Secret: "till-secret-0123456789-0123456789-012345678"}

// tillClient may use passwords until a day.
func tillClient(day string) string {
	return `client till {
			secret till-secret-0123456789-0123456789-012345678
			deprecated_grant password until ` + day + `
			scopes read
			default_scopes read
		}
		`
}

func passwordForm(user, pass string) url.Values {
	return url.Values{"grant_type": {"password"}, "username": {user}, "password": {pass}}
}

func TestPasswordGrantUntilItsDate(t *testing.T) {
	next := time.Now().AddDate(1, 0, 0).UTC()
	g, _ := startSite(t, trustingSite, "$GLOBAL", tillClient(next.Format(time.DateOnly)))
	var sunset string
	t.Run("P03 one client has it", func(t *testing.T) {
		p := at(t, g, "/token", till, passwordForm(username, password))
		access, _ := wantTokens(t, p)
		sunset = p.Header.Get("Sunset")
		end, err := time.Parse(http.TimeFormat, sunset)
		if err != nil || end.Before(next.AddDate(0, 0, -1)) || end.After(next.AddDate(0, 0, 2)) || !strings.HasPrefix(p.Header.Get("Deprecation"), "@1") {
			t.Errorf("%v", p.Header)
		}
		if sub := claimsOf(t, access)["sub"]; sub != "u-1" {
			t.Errorf("sub %v", sub)
		}
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		wantRevoked(t, at(t, g, "/revoke", till, tokenForm(access)))
		wantDead(t, g, access)
		m, _ := readMetadata(t, g.ID+metadataPath)
		if !slices.Contains(m.Grants, "password") || slices.Contains(m.Grants, "implicit") {
			t.Errorf("%v", m.Grants)
		}
		if !strings.Contains(g.Scrape(t), `caddy_gatehouse_deprecated_grant_tokens_total{grant="password"}`) {
			t.Error("not counted")
		}
		wantOAuth(t, at(t, g, "/token", web, passwordForm(username, password)), http.StatusBadRequest, "unauthorized_client")
	})
	t.Run("P02 refusals look alike", func(t *testing.T) {
		bodies := map[string]bool{}
		for _, c := range [][2]string{{username, "wrong"}, {"nobody", password}, {"mallory", password}} {
			p := at(t, g, "/token", till, passwordForm(c[0], c[1]), "X-Forwarded-For", somebody())
			wantOAuth(t, p, http.StatusBadRequest, "invalid_grant")
			bodies[p.Body] = true
		}
		if len(bodies) != 1 {
			t.Errorf("%v", bodies)
		}
	})
	t.Run("P02 the login page counts with it", func(t *testing.T) {
		a := newAttempts(t, g)
		for i := range 10 {
			if i%2 == 0 {
				wantOAuth(t, at(t, g, "/token", till, passwordForm("BOB", "wrong"), "X-Forwarded-For", somebody()), http.StatusBadRequest, "invalid_grant")
			} else {
				a.refused("bob", "wrong", somebody())
			}
		}
		wantOAuth(t, at(t, g, "/token", till, passwordForm("bob", password), "X-Forwarded-For", somebody()), http.StatusBadRequest, "invalid_grant")
		a.refused("bob", password, somebody())
	})
	t.Run("the address limit is one", func(t *testing.T) {
		from := somebody()
		a := newAttempts(t, g)
		for i := range 30 {
			if i%2 == 0 {
				a.refused("nobody", "wrong", from)
			} else {
				wantOAuth(t, at(t, g, "/token", till, passwordForm("nobody else", "wrong"), "X-Forwarded-For", from), http.StatusBadRequest, "invalid_grant")
			}
		}
		p := at(t, g, "/token", till, passwordForm(username, password), "X-Forwarded-For", from)
		wantOAuth(t, p, http.StatusTooManyRequests, "slow_down")
		if p.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		wantTokens(t, at(t, g, "/token", till, passwordForm(username, password), "X-Forwarded-For", somebody()))
	})
}

func TestPasswordGrantEndsAfterItsDate(t *testing.T) { // P01, P03
	g, _ := start(t, "$GLOBAL", tillClient("2020-01-01"))
	p := at(t, g, "/token", till, passwordForm(username, password))
	wantOAuth(t, p, http.StatusBadRequest, "unauthorized_client")
	if !strings.Contains(p.Body, "deprecated") || !strings.Contains(p.Body, "2020-01-0") {
		t.Errorf("%s", p.Body)
	}
	wantOAuth(t, at(t, g, "/token", web, passwordForm(username, password)), http.StatusBadRequest, "unsupported_grant_type")
	if m, _ := readMetadata(t, g.ID+metadataPath); slices.Contains(m.Grants, "password") {
		t.Errorf("%v", m.Grants)
	}
}

func TestEachLoadWarnsOncePerDeprecatedGrant(t *testing.T) { // P03
	logged := strings.Replace(site, "output discard", "output file $DIR/caddy.log", 1)
	next := time.Now().AddDate(1, 0, 0).UTC().Format(time.DateOnly)
	old := strings.ReplaceAll(strings.Replace(tillClient("2020-01-01"), "client till", "client ended", 1), "password until", "implicit until")
	old = strings.Replace(old, "scopes read", "redirect_uri https://old.example/cb\n\t\t\tscopes read", 1)
	g, _ := startSite(t, logged, "$GLOBAL", tillClient(next)+old)
	warnings := func() (lines []string) {
		text, err := os.ReadFile(filepath.Join(g.Dir, "caddy.log"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, `"level":"warn"`) && strings.Contains(line, "deprecated grant") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	for load := 1; load <= 2; load++ {
		lines := warnings()
		if len(lines) != 2*load {
			t.Fatalf("%d lines after %d loads: %q", len(lines), load, lines)
		}
		for i, want := range [][]string{{`"client":"till"`, `"grant":"password"`, next}, {`"client":"ended"`, `"grant":"implicit"`, "2020-01-01", "has come"}} {
			for _, part := range want {
				if !strings.Contains(lines[2*load-2+i], part) {
					t.Errorf("no %s in %s", part, lines[2*load-2+i])
				}
			}
		}
		if load == 1 {
			g.Load(t, logged)
		}
	}
}
