package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const oldTo = "https://old.example/cb"

// oldClient may use the implicit grant until a day.
func oldClient(day string) string {
	return `client old {
			public
			redirect_uri ` + oldTo + `
			grants authorization_code
			deprecated_grant implicit until ` + day + `
			scopes read
		}
		`
}

func tokenURL(g *harness.Gateway, client, redirect string) string {
	return authorizeURL(g, client, "redirect_uri", redirect, "response_type", "token", "code_challenge", "-", "code_challenge_method", "-")
}

// fragment is what a redirect carries behind the number sign.
func fragment(t *testing.T, p harness.Page, redirect string) url.Values {
	t.Helper()
	before, after, ok := strings.Cut(p.Header.Get("Location"), "#")
	v, err := url.ParseQuery(after)
	if !ok || err != nil || before != redirect {
		t.Fatalf("%d %s", p.Status, p.Header.Get("Location"))
	}
	return v
}

func TestImplicitGrantUntilItsDate(t *testing.T) { // A15, A16, A17
	day := func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	g, _ := start(t, "$GLOBAL", oldClient(day(2)))
	b := harness.NewBrowser(t, g.ID)
	consent := b.Submit(b.Get(tokenURL(g, "old", oldTo)), url.Values{"username": {username}, "password": {password}})
	wantPage(t, consent, http.StatusOK)
	v := fragment(t, b.Submit(consent, url.Values{"decision": {"allow"}}), oldTo)
	if v.Get("state") != "S" || v.Get("iss") != g.ID || v.Get("token_type") != "Bearer" || v.Get("expires_in") != "3600" || v.Get("scope") != "read" || v.Has("refresh_token") || v.Has("code") {
		t.Fatalf("%v", v)
	}
	if p := g.Call(t, http.MethodGet, "/read", v.Get("access_token")); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if !strings.Contains(g.Scrape(t), `caddy_gatehouse_deprecated_grant_tokens_total{grant="implicit"}`) {
		t.Error("not counted")
	}
	t.Run("A16 another client", func(t *testing.T) {
		if v := fragment(t, b.Get(tokenURL(g, "web", callback)), callback); v.Get("error") != "unauthorized_client" || v.Has("access_token") {
			t.Errorf("%v", v)
		}
	})
	t.Run("A18 not in the query", func(t *testing.T) {
		if v := fragment(t, b.Get(tokenURL(g, "old", oldTo)+"&response_mode=query"), oldTo); v.Get("error") != "invalid_request" {
			t.Errorf("%v", v)
		}
	})
	t.Run("M02 the metadata", func(t *testing.T) {
		m, _ := readMetadata(t, g.ID+discoveryPath)
		if !slices.Contains(m.Grants, "implicit") || !slices.Contains(m.ResponseTypes, "token") || !slices.Contains(m.ResponseModes, "fragment") {
			t.Errorf("%+v", m)
		}
	})
	// The page is open while the grant comes to its end.
	open := harness.NewBrowser(t, g.ID)
	page := open.Submit(open.Get(strings.Replace(tokenURL(g, "old", oldTo), "state=S", "state=late", 1)), url.Values{"username": {"bob"}, "password": {password}})
	g.Load(t, strings.Replace(site, "$GLOBAL", oldClient(day(0)), 1))
	t.Run("A17 a page from before", func(t *testing.T) {
		if v := fragment(t, open.Submit(page, url.Values{"decision": {"allow"}}), oldTo); v.Get("error") != "unsupported_response_type" || v.Has("access_token") {
			t.Errorf("%v", v)
		}
	})
	t.Run("A15 as if there were none", func(t *testing.T) {
		wantError(t, g, b.Get(tokenURL(g, "old", oldTo)), oldTo, "unsupported_response_type")
		m, _ := readMetadata(t, g.ID+metadataPath)
		if slices.Contains(m.Grants, "implicit") || slices.Contains(m.ResponseTypes, "token") || slices.Contains(m.ResponseModes, "fragment") {
			t.Errorf("%+v", m)
		}
	})
}
