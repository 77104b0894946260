package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// coder gets codes for one signed-in browser: signing in is limited by address.
type coder struct {
	t *testing.T
	g *harness.Gateway
	b *harness.Browser
}

func newCoder(t *testing.T, g *harness.Gateway) *coder {
	return &coder{t, g, harness.NewBrowser(t, g.ID)}
}

func (c *coder) code(client string, changes ...string) string {
	c.t.Helper()
	back := c.b.Authorize(authorizeURL(c.g, client, changes...), username, password)
	if back.Query().Get("code") == "" {
		c.t.Fatalf("no code in %s", back)
	}
	return back.Query().Get("code")
}

func with(form url.Values, name, value string) url.Values {
	changed := url.Values{}
	for k, v := range form {
		changed[k] = v
	}
	if changed.Set(name, value); value == "-" {
		changed.Del(name)
	}
	return changed
}

func refreshWith(token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}
}

const spaCallback, otherCallback = "https://spa.example/cb", "https://other.example/cb"

func TestCodeIsRedeemedOnce(t *testing.T) {
	g, up := startSite(t, trustingSite, "$TOKENS", "code 2s")
	c := newCoder(t, g)
	t.Run("C01 exchange and use", func(t *testing.T) {
		access, _ := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		wantHits(t, up, 1)
	})
	for name, wait := range map[string]time.Duration{"at once": 0, "after a second": time.Second, "after its life": 2500 * time.Millisecond} {
		t.Run("C02 again "+name, func(t *testing.T) {
			used := c.code("web")
			access, refresh := wantTokens(t, g.Token(t, web, exchange(used, callback)))
			p := g.Token(t, web, refreshWith(refresh))
			access2, refresh2 := wantTokens(t, p)
			if wait > 0 {
				t.Parallel()
			}
			time.Sleep(wait)
			wantOAuth(t, g.Token(t, web, exchange(used, callback)), http.StatusBadRequest, "invalid_grant")
			wantDead(t, g, access)
			wantDead(t, g, access2)
			for _, r := range []string{refresh, refresh2} {
				wantOAuth(t, g.Token(t, web, refreshWith(r)), http.StatusBadRequest, "invalid_grant")
			}
		})
	}
	t.Run("C03 too late", func(t *testing.T) {
		late := c.code("web")
		t.Parallel()
		time.Sleep(2100 * time.Millisecond)
		wantOAuth(t, g.Token(t, web, exchange(late, callback)), http.StatusBadRequest, "invalid_grant")
	})
}

func TestCodeIsBoundToItsRequest(t *testing.T) {
	g, _ := start(t)
	c := newCoder(t, g)
	nearly := harness.Verifier[:len(harness.Verifier)-1] + "K"
	for _, tc := range []struct {
		name    string
		client  harness.Credentials
		changes [][2]string
	}{
		{"C04 another client", other, nil},
		{"C04 a public client", spa, nil},
		{"C05 another client, all else right", other, [][2]string{{"redirect_uri", callback}}},
		{"C05 right client, wrong redirect_uri", web, [][2]string{{"redirect_uri", otherCallback}}},
		{"C05 both wrong", other, [][2]string{{"redirect_uri", otherCallback}}},
		{"C06 one character more", web, [][2]string{{"redirect_uri", callback + "/"}}},
		{"C06 one character less", web, [][2]string{{"redirect_uri", callback[:len(callback)-1]}}},
		{"C06 another case", web, [][2]string{{"redirect_uri", "https://client.example/CB"}}},
		{"C06 another registered one", web, [][2]string{{"redirect_uri", "https://client.example/q?dummy1=lorem&dummy2=ipsum"}}},
		{"C06 missing without the verifier", web, [][2]string{{"redirect_uri", "-"}, {"code_verifier", "-"}}},
		{"C06 missing with a wrong verifier", web, [][2]string{{"redirect_uri", "-"}, {"code_verifier", nearly}}},
		{"C07 verifier missing", web, [][2]string{{"code_verifier", "-"}}},
		{"C07 verifier wrong", web, [][2]string{{"code_verifier", nearly}}},
		{"C07 verifier is the challenge", web, [][2]string{{"code_verifier", harness.Challenge(harness.Verifier)}}},
		{"C07 verifier of 42 characters", web, [][2]string{{"code_verifier", harness.Verifier[:42]}}},
		{"C07 verifier of 129 characters", web, [][2]string{{"code_verifier", strings.Repeat("a", 129)}}},
		{"C07 verifier with an illegal character", web, [][2]string{{"code_verifier", harness.Verifier[:42] + " "}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fresh := c.code("web")
			form := exchange(fresh, callback)
			for _, change := range tc.changes {
				form = with(form, change[0], change[1])
			}
			wantOAuth(t, g.Token(t, tc.client, form), http.StatusBadRequest, "invalid_grant")
			wantTokens(t, g.Token(t, web, exchange(fresh, callback))) // not burned
		})
	}
	t.Run("C07 42 and 129 characters fail though they match", func(t *testing.T) {
		for _, verifier := range []string{strings.Repeat("a", 42), strings.Repeat("a", 129), strings.Repeat("a", 42) + "!"} {
			fresh := c.code("web", "code_challenge", harness.Challenge(verifier))
			wantOAuth(t, g.Token(t, web, with(exchange(fresh, callback), "code_verifier", verifier)), http.StatusBadRequest, "invalid_grant")
		}
	})
	t.Run("C07 a verifier without challenge", func(t *testing.T) {
		fresh := c.code("web", "code_challenge", "-", "code_challenge_method", "-")
		wantOAuth(t, g.Token(t, web, exchange(fresh, callback)), http.StatusBadRequest, "invalid_grant")
		wantTokens(t, g.Token(t, web, with(exchange(fresh, callback), "code_verifier", "-")))
	})
	t.Run("C09 parts of a code and others", func(t *testing.T) {
		fresh := c.code("web")
		for _, bad := range []string{fresh[:len(fresh)-1], fresh + "A", strings.ToUpper(fresh), fresh[1:], " " + fresh, strings.Repeat("a", 5000)} {
			wantOAuth(t, g.Token(t, web, exchange(bad, callback)), http.StatusBadRequest, "invalid_grant")
		}
		wantOAuth(t, g.Token(t, web, exchange("", callback)), http.StatusBadRequest, "invalid_request")
	})
	t.Run("C11 more scope than granted", func(t *testing.T) {
		p := g.Token(t, web, with(exchange(c.code("web"), callback), "scope", "read write admin"))
		access, _ := wantTokens(t, p)
		if p.JSON(t)["scope"] != "read" || claimsOf(t, access)["scope"] != "read" {
			t.Errorf("%s", p.Body)
		}
	})
}

func TestChangesThatInvalidateACode(t *testing.T) {
	g, _ := start(t)
	c := newCoder(t, g)
	t.Run("C12 the user is locked", func(t *testing.T) {
		fresh := c.code("web")
		rewriteUsers(t, g, lockedUsers)
		wantOAuth(t, g.Token(t, web, exchange(fresh, callback)), http.StatusBadRequest, "invalid_grant")
		rewriteUsers(t, g, users)
	})
	t.Run("C12 the user is gone", func(t *testing.T) {
		fresh := c.code("web")
		rewriteUsers(t, g, strings.Replace(users, `"u-1"`, `"u-9"`, 1))
		wantOAuth(t, g.Token(t, web, exchange(fresh, callback)), http.StatusBadRequest, "invalid_grant")
		rewriteUsers(t, g, users)
	})
	c = newCoder(t, g)
	t.Run("C13 the redirect address is removed", func(t *testing.T) {
		fresh := c.code("web")
		g.Load(t, strings.Replace(site, "\t\t\tredirect_uri https://client.example/cb\n", "", 1))
		wantOAuth(t, g.Token(t, web, exchange(fresh, callback)), http.StatusBadRequest, "invalid_grant")
		g.Load(t, site)
	})
	t.Run("C13 the client is removed", func(t *testing.T) {
		fresh := c.code("web")
		g.Load(t, strings.Replace(site, "client web {", "client webb {", 1))
		wantOAuth(t, g.Token(t, web, exchange(fresh, callback)), http.StatusUnauthorized, "invalid_client")
		g.Load(t, site)
	})
	t.Run("C13 the scope is taken from the client", func(t *testing.T) {
		fresh := c.code("spa", "scope", "read write")
		g.Load(t, strings.Replace(site, "redirect_uri https://spa.example/cb\n\t\t\tscopes read write", "redirect_uri https://spa.example/cb\n\t\t\tscopes read", 1))
		p := g.Token(t, spa, exchange(fresh, spaCallback))
		wantTokens(t, p)
		if p.JSON(t)["scope"] != "read" {
			t.Errorf("%s", p.Body)
		}
		g.Load(t, site)
	})
	t.Run("C16 no refresh grant", func(t *testing.T) {
		g.Load(t, strings.Replace(site, "grants authorization_code refresh_token client_credentials", "grants authorization_code", 1))
		p := g.Token(t, web, exchange(c.code("web"), callback))
		wantTokens(t, p)
		if _, has := p.JSON(t)["refresh_token"]; has {
			t.Errorf("%s", p.Body)
		}
	})
}

// rewriteUsers changes the users' file and waits until the gateway must know: it looks
// at the file once a second.
func rewriteUsers(t *testing.T, g *harness.Gateway, content string) {
	t.Helper()
	g.WriteFile(t, "users.json", content)
	time.Sleep(1200 * time.Millisecond)
}

// lockedUsers are the users with alice locked.
var lockedUsers = strings.Replace(users, `"name":"Alice"`, `"name":"Alice","locked":true`, 1)

// C15: the answer is lost on its way; a client that repeats its request looks like a
// replay, and then nothing of what it did not get is alive.
func TestRepeatedExchangeAfterALostAnswerRevokes(t *testing.T) {
	g, up := start(t)
	fresh := newCoder(t, g).code("web")
	body := exchange(fresh, callback).Encode()
	conn := harness.Dial(t, g.ID)
	if _, err := fmt.Fprintf(conn, "POST /token HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s",
		strings.TrimPrefix(g.ID, "http://"), basic(web.ID, web.Secret), len(body), body); err != nil {
		t.Fatal(err)
	}
	// The answer begins to come, so the exchange is done; the client never reads on.
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	wantOAuth(t, g.Token(t, web, exchange(fresh, callback)), http.StatusBadRequest, "invalid_grant")
	wantOAuth(t, g.Token(t, web, exchange(fresh, callback)), http.StatusBadRequest, "invalid_grant")
	wantHits(t, up, 0)
}

// S04: redirect_uri may be absent where PKCE ties the code to its request (OAuth 2.1
// section 4.1.3), and only there.
func TestRedirectURIIsRequiredOnlyWithoutPKCE(t *testing.T) {
	g, _ := startSite(t, trustingSite)
	c := newCoder(t, g)
	plain := []string{"code_challenge", "-", "code_challenge_method", "-"}
	t.Run("S04 absent with PKCE", func(t *testing.T) {
		wantTokens(t, g.Token(t, web, with(exchange(c.code("web"), callback), "redirect_uri", "-")))
		wantTokens(t, g.Token(t, spa, with(exchange(c.code("spa"), spaCallback), "redirect_uri", "-")))
	})
	t.Run("S04 sent without a value counts as absent", func(t *testing.T) {
		wantTokens(t, g.Token(t, web, with(exchange(c.code("web"), callback), "redirect_uri", "")))
	})
	t.Run("S04 absent without PKCE", func(t *testing.T) {
		fresh := c.code("web", plain...)
		form := with(exchange(fresh, callback), "code_verifier", "-")
		for _, missing := range []string{"-", ""} {
			wantDescription(t, g.Token(t, web, with(form, "redirect_uri", missing)), "invalid_grant",
				"redirect_uri is missing: it may be absent only where the code was issued with PKCE")
		}
		wantTokens(t, g.Token(t, web, form)) // not burned
	})
	t.Run("S04 another one", func(t *testing.T) {
		fresh := c.code("web")
		wantDescription(t, g.Token(t, web, with(exchange(fresh, callback), "redirect_uri", otherCallback)), "invalid_grant",
			"redirect_uri differs from that of the authorization request")
		wantDescription(t, g.Token(t, web, with(exchange(fresh, callback), "code_verifier", "-")), "invalid_grant",
			"code_verifier is missing: the code was issued with PKCE")
	})
	t.Run("S04 a code that was used", func(t *testing.T) {
		used := c.code("web")
		_, refresh := wantTokens(t, g.Token(t, web, exchange(used, callback)))
		wantDescription(t, g.Token(t, web, exchange(used, callback)), "invalid_grant",
			"code was used before: the tokens issued for it are revoked")
		p := g.Token(t, web, refreshWith(refresh))
		if description, _ := p.JSON(t)["error_description"].(string); strings.Contains(description, "code") || !strings.Contains(description, "refresh_token") {
			t.Errorf("of a refresh token: %s", p.Body)
		}
		// Whoever could not have redeemed it is not told that it was used.
		unknown := "code is unknown, expired, revoked or another client's"
		wantDescription(t, g.Token(t, other, exchange(used, callback)), "invalid_grant", unknown)
		wantDescription(t, g.Token(t, web, exchange(strings.Repeat("a", 43), callback)), "invalid_grant", unknown)
	})
}

// wantDescription is a refusal of the token endpoint with these words for its developer.
func wantDescription(t *testing.T, p harness.Page, code, description string) {
	t.Helper()
	wantOAuth(t, p, http.StatusBadRequest, code)
	if got := p.JSON(t)["error_description"]; got != description {
		t.Errorf("%s, want %q", p.Body, description)
	}
}
