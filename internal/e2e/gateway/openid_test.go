package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	partyTo  = "https://party.example/cb"
	partyBye = "https://party.example/bye"
	partyKey = "party-secret-0123456789-0123456789-0123456789"
)

// partyClient is a relying party of one's own.
func partyClient(id, more string) string {
	return "client " + id + ` {
			secret ` + partyKey + `
			redirect_uri ` + partyTo + `
			post_logout_redirect_uri ` + partyBye + `
			scopes openid profile email read
			audience https://api.example https://other.example
			trusted
			` + more + `
		}
		`
}

// openIDUsers are alice, of whom more is known, and bob.
var openIDUsers = strings.Replace(users, `"name":"Alice"`,
	`"name":"Alice Liddell","nickname":"Al","picture":"https://pictures.example/a.png","email":"alice@example.com","phone":"+4930123456",
	"claims":{"locale":"en-GB","email_verified":true,"department":"41","sub":"u-2","name":"Somebody Else"}`, 1)

// startOpenID has the relying parties rs, es, ed and signed.
func startOpenID(t *testing.T, more ...string) *harness.Gateway {
	t.Helper()
	g := harness.Prepare(t, append(more, "$UPSTREAM", harness.NewUpstream(t).Addr, "$TOKENS", "", "$GUARD", "", "$LIMIT", "",
		"$GLOBAL", partyClient("rs", "")+partyClient("es", "id_token_alg ES256")+partyClient("ed", "id_token_alg EdDSA")+
			partyClient("signed", "id_token_alg ES256\n\t\t\tuserinfo_content_type application/jwt"))...)
	g.WriteFile(t, "users.json", openIDUsers)
	g.Start(t, site)
	return g
}

// party is a relying party made of stock libraries.
type party struct {
	t        *testing.T
	g        *harness.Gateway
	provider *oidc.Provider
	config   oauth2.Config
}

func newParty(t *testing.T, g *harness.Gateway, id string) party {
	t.Helper()
	provider, err := oidc.NewProvider(t.Context(), g.ID)
	if err != nil {
		t.Fatal(err)
	}
	return party{t, g, provider, oauth2.Config{
		ClientID: id, ClientSecret: partyKey, RedirectURL: partyTo, Endpoint: provider.Endpoint(), Scopes: []string{"openid", "profile", "email"},
	}}
}

// signIn lets a user sign in at the party and returns the tokens.
func (p party) signIn(b *harness.Browser, user, nonce string, options ...oauth2.AuthCodeOption) *oauth2.Token {
	p.t.Helper()
	verifier := oauth2.GenerateVerifier()
	options = append(options, oauth2.S256ChallengeOption(verifier), oidc.Nonce(nonce))
	q := b.Authorize(p.config.AuthCodeURL("S", options...), user, password).Query()
	if q.Get("state") != "S" || q.Get("iss") != p.g.ID {
		p.t.Fatalf("the browser came back with %v", q)
	}
	tokens, err := p.config.Exchange(p.t.Context(), q.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		p.t.Fatal(err)
	}
	return tokens
}

// verify checks the id_token as the library does, and what it leaves to its user.
func (p party) verify(tokens *oauth2.Token, nonce string) *oidc.IDToken {
	p.t.Helper()
	id, err := p.provider.Verifier(&oidc.Config{ClientID: p.config.ClientID}).Verify(p.t.Context(), rawID(p.t, tokens))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := id.VerifyAccessToken(tokens.AccessToken); err != nil {
		p.t.Errorf("at_hash: %v", err)
	}
	if id.Nonce != nonce || id.Issuer != p.g.ID {
		p.t.Errorf("nonce %q, issuer %q", id.Nonce, id.Issuer)
	}
	return id
}

func rawID(t *testing.T, tokens *oauth2.Token) string {
	t.Helper()
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		t.Fatal("no id_token")
	}
	return raw
}

func TestRelyingPartyLibrarySignsAUserIn(t *testing.T) {
	g := startOpenID(t)
	for client, alg := range map[string]string{"rs": "RS256", "es": "ES256", "ed": "EdDSA", "signed": "ES256"} {
		t.Run(client, func(t *testing.T) {
			p := newParty(t, g, client)
			tokens := p.signIn(harness.NewBrowser(t, g.ID), username, "nonce-1")
			id := p.verify(tokens, "nonce-1")
			if id.Subject != "u-1" || algOf(t, rawID(t, tokens)) != alg {
				t.Errorf("%s, signed %v", id.Subject, algOf(t, rawID(t, tokens)))
			}
			var about struct {
				Name     string `json:"name"`
				Nickname string `json:"nickname"`
				User     string `json:"preferred_username"`
				Picture  string `json:"picture"`
				Locale   string `json:"locale"`
				Phone    string `json:"phone_number"`
				Other    string `json:"department"`
			}
			info, err := p.provider.UserInfo(t.Context(), oauth2.StaticTokenSource(tokens))
			if err != nil {
				t.Fatal(err)
			}
			if err := info.Claims(&about); err != nil {
				t.Fatal(err)
			}
			if info.Subject != "u-1" || info.Email != "alice@example.com" || !info.EmailVerified || about.Name != "Alice Liddell" || about.Nickname != "Al" ||
				about.User != "alice" || about.Picture != "https://pictures.example/a.png" || about.Locale != "en-GB" || about.Phone+about.Other != "" {
				t.Errorf("%+v %+v", info, about)
			}
			// The library refreshes; the sign-in stays the same.
			old := *tokens
			fresh, err := p.config.TokenSource(t.Context(), expired(&old)).Token()
			if err != nil {
				t.Fatal(err)
			}
			again := p.verify(fresh, "")
			var was, is struct {
				AuthTime int64  `json:"auth_time"`
				Session  string `json:"sid"`
			}
			if id.Claims(&was) != nil || again.Claims(&is) != nil || was != is || was.AuthTime == 0 || was.Session == "" || again.Subject != id.Subject {
				t.Errorf("%+v, was %+v", is, was)
			}
		})
	}
}

func algOf(t *testing.T, raw string) any {
	t.Helper()
	header, _, _ := strings.Cut(raw, ".")
	return claimsOf(t, "."+header+".")["alg"]
}

func expired(tokens *oauth2.Token) *oauth2.Token {
	tokens.Expiry = tokens.Expiry.AddDate(-1, 0, 0)
	return tokens
}

func TestRelyingPartyLibraryRefusesForeignTokens(t *testing.T) {
	g := startOpenID(t)
	p := newParty(t, g, "es")
	tokens := p.signIn(harness.NewBrowser(t, g.ID), username, "n")
	raw := rawID(t, tokens)
	if _, err := p.provider.Verifier(&oidc.Config{ClientID: "rs"}).Verify(t.Context(), raw); err == nil {
		t.Error("an id_token for another client is good")
	}
	if _, err := p.provider.Verifier(&oidc.Config{ClientID: "es"}).Verify(t.Context(), tokens.AccessToken); err == nil {
		t.Error("an access token is an id_token")
	}
	if _, err := oidc.NewProvider(context.WithoutCancel(t.Context()), g.ID+"/"); err == nil {
		t.Error("the issuer is not exact")
	}
	if p := g.Call(t, http.MethodGet, "/read", raw); p.Status != http.StatusUnauthorized {
		t.Errorf("an id_token opens the guard: %d", p.Status)
	}
	if p := userinfo(t, g, raw); p.Status != http.StatusUnauthorized {
		t.Errorf("an id_token opens userinfo: %d", p.Status)
	}
}

func userinfo(t *testing.T, g *harness.Gateway, access string) harness.Page {
	t.Helper()
	return send(t, harness.NewBrowser(t, ""), http.MethodGet, g.ID+"/userinfo", "", "Authorization", "Bearer "+access)
}

func TestUserinfoOverHTTP(t *testing.T) {
	g := startOpenID(t)
	p := newParty(t, g, "es")
	tokens := p.signIn(harness.NewBrowser(t, g.ID), username, "n")
	page := userinfo(t, g, tokens.AccessToken)
	if page.Status != http.StatusOK || page.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(page.Header.Get("Content-Type"), "application/json") {
		t.Errorf("%d %v", page.Status, page.Header)
	}
	p.config.ClientID = "signed"
	jwt := userinfo(t, g, p.signIn(harness.NewBrowser(t, g.ID), username, "n").AccessToken)
	if jwt.Header.Get("Content-Type") != "application/jwt" || claimsOf(t, jwt.Body)["aud"] != "signed" || claimsOf(t, jwt.Body)["iss"] != g.ID {
		t.Errorf("%v %s", jwt.Header, jwt.Body)
	}
	_, plain := tokens, g.Token(t, web, url.Values{"grant_type": {"client_credentials"}})
	access, _ := plain.JSON(t)["access_token"].(string)
	for name, c := range map[string]struct {
		page   harness.Page
		status int
		code   string
	}{
		"nothing":        {send(t, harness.NewBrowser(t, ""), http.MethodGet, g.ID+"/userinfo", ""), http.StatusUnauthorized, ""},
		"nonsense":       {userinfo(t, g, "x"), http.StatusUnauthorized, "invalid_token"},
		"a program's":    {userinfo(t, g, access), http.StatusUnauthorized, "invalid_token"},
		"in the address": {send(t, harness.NewBrowser(t, ""), http.MethodGet, g.ID+"/userinfo?access_token="+tokens.AccessToken, ""), http.StatusBadRequest, "invalid_request"},
	} {
		got := c.page.Header.Get("WWW-Authenticate")
		if c.page.Status != c.status || c.code == "" && strings.Contains(got, "error") || c.code != "" && !strings.Contains(got, `error="`+c.code+`"`) {
			t.Errorf("%s: %d %s", name, c.page.Status, got)
		}
	}
	// A locked user is nobody's to be told about any more.
	g.WriteFile(t, "users.json", strings.Replace(openIDUsers, `"username":"alice"`, `"username":"alice","locked":true`, 1))
	status := http.StatusOK
	for deadline := time.Now().Add(5 * time.Second); status == http.StatusOK && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		status = userinfo(t, g, tokens.AccessToken).Status
	}
	if status != http.StatusUnauthorized {
		t.Errorf("a locked user: %d", status)
	}
}

func TestHintsAndSignOutOverHTTP(t *testing.T) { // A30, A31, A32
	g := startOpenID(t)
	p := newParty(t, g, "es")
	alice, bob := harness.NewBrowser(t, g.ID), harness.NewBrowser(t, g.ID)
	hint := rawID(t, p.signIn(alice, username, "n"))
	p.signIn(bob, "bob", "n")
	ask := func(b *harness.Browser, changes ...string) harness.Page {
		t.Helper()
		return b.Get(authorizeURL(g, "es", append([]string{"redirect_uri", partyTo, "scope", "openid"}, changes...)...))
	}
	wantCode(t, g, ask(alice, "prompt", "none", "id_token_hint", hint), partyTo)
	wantError(t, g, ask(bob, "prompt", "none", "id_token_hint", hint), partyTo, "login_required")
	wantError(t, g, ask(alice, "id_token_hint", hint[:len(hint)-4]+"AAAA"), partyTo, "invalid_request")
	login := ask(bob, "id_token_hint", hint)
	if !strings.Contains(login.Body, `name="password"`) {
		t.Fatalf("A32 %d %s", login.Status, login.Header.Get("Location"))
	}
	wantError(t, g, bob.Submit(login, url.Values{"username": {"bob"}, "password": {password}}), partyTo, "login_required")
	wantCode(t, g, bob.Submit(ask(bob, "id_token_hint", hint), url.Values{"username": {username}, "password": {password}}), partyTo)

	out := g.ID + "/logout?id_token_hint=" + hint + "&post_logout_redirect_uri=" + url.QueryEscape(partyBye) + "&state=S"
	if p := bob.Get(out); p.Status != http.StatusOK || p.Header.Get("Location") != "" || session(t, g, bob) == "" {
		t.Errorf("another session is signed out: %d", p.Status)
	}
	if p := alice.Get(strings.Replace(out, "party.example", "evil.example", 1)); p.Status != http.StatusOK || p.Header.Get("Location") != "" {
		t.Errorf("%d %s", p.Status, p.Header.Get("Location"))
	}
	p.signIn(alice, username, "n")
	hint = rawID(t, p.signIn(alice, username, "n"))
	out = g.ID + "/logout?id_token_hint=" + hint + "&post_logout_redirect_uri=" + url.QueryEscape(partyBye) + "&state=S"
	if p := alice.Get(out); p.Status != http.StatusFound || p.Header.Get("Location") != partyBye+"?state=S" || session(t, g, alice) != "" {
		t.Errorf("%d %s", p.Status, p.Header.Get("Location"))
	}
	wantError(t, g, ask(alice, "prompt", "none"), partyTo, "login_required")
}

func TestRequestedResourceIsTheTokenAudience(t *testing.T) { // RFC 8707
	g := startOpenID(t)
	p := newParty(t, g, "es")
	p.config.Scopes = []string{"openid", "read"}
	one := p.signIn(harness.NewBrowser(t, g.ID), username, "n", oauth2.SetAuthURLParam("resource", "https://other.example"))
	if aud := claimsOf(t, one.AccessToken)["aud"]; aud != "https://other.example" {
		t.Errorf("aud %v", aud)
	}
	if page := g.Call(t, http.MethodGet, "/read", one.AccessToken); page.Status != http.StatusUnauthorized {
		t.Errorf("a token for elsewhere: %d", page.Status)
	}
	if page := userinfo(t, g, one.AccessToken); page.Status != http.StatusOK {
		t.Errorf("userinfo: %d", page.Status)
	}
	b := harness.NewBrowser(t, g.ID)
	for _, resource := range []string{"https://evil.example", "https://api.example#x", "/api"} {
		wantError(t, g, b.Get(authorizeURL(g, "es", "redirect_uri", partyTo, "scope", "openid", "resource", resource)), partyTo, "invalid_target")
	}
}

func TestDynamicClientCanUseOpenID(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_INITIAL", initialToken)
	g, _ := start(t, "$GLOBAL", "registration {\n\t\t\tinitial_token {env.GATEHOUSE_TEST_INITIAL}\n\t\t\tscopes openid profile email\n\t\t}")
	for _, alg := range []string{"ES256", "EdDSA", "RS256"} {
		made := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
			"redirect_uris": []string{partyTo}, "scope": "openid profile email", "id_token_signed_response_alg": alg,
		})
		if made.Status != http.StatusCreated {
			t.Fatalf("%d %s", made.Status, made.Body)
		}
		p := newParty(t, g, member(t, made, "client_id"))
		p.config.ClientSecret = member(t, made, "client_secret")
		tokens := p.signIn(harness.NewBrowser(t, g.ID), username, "n")
		if p.verify(tokens, "n"); algOf(t, rawID(t, tokens)) != alg {
			t.Errorf("signed with %v", algOf(t, rawID(t, tokens)))
		}
	}
}

// S19: some stock clients never call /userinfo and show an empty name otherwise.
func TestClaimsAreInTheIDTokenWhereConfigured(t *testing.T) {
	g := harness.Prepare(t, "$UPSTREAM", harness.NewUpstream(t).Addr, "$TOKENS", "", "$GUARD", "", "$LIMIT", "",
		"$GLOBAL", partyClient("bare", "")+partyClient("named", "id_token_claims profile email")+partyClient("mailed", "id_token_claims email"))
	g.WriteFile(t, "users.json", openIDUsers)
	g.Start(t, site)
	claims := func(client string, scopes ...string) map[string]any {
		p := newParty(t, g, client)
		p.config.Scopes = append([]string{"openid"}, scopes...)
		tokens := p.signIn(harness.NewBrowser(t, g.ID), username, "nonce-1")
		p.verify(tokens, "nonce-1")
		return claimsOf(t, rawID(t, tokens))
	}
	for name, tc := range map[string]struct {
		client string
		scopes []string
		want   string // name, preferred_username, email, email_verified, locale
	}{
		"S19 not by default":                    {"bare", []string{"profile", "email"}, "<nil> <nil> <nil> <nil> <nil>"},
		"S19 both":                              {"named", []string{"profile", "email"}, "Alice Liddell alice alice@example.com true en-GB"},
		"S19 no more than the user has allowed": {"named", []string{"email"}, "<nil> <nil> alice@example.com true <nil>"},
		"S19 nothing without those scopes":      {"named", nil, "<nil> <nil> <nil> <nil> <nil>"},
		"S19 no more than is configured":        {"mailed", []string{"profile", "email"}, "<nil> <nil> alice@example.com true <nil>"},
	} {
		m := claims(tc.client, tc.scopes...)
		if got := fmt.Sprint(m["name"], " ", m["preferred_username"], " ", m["email"], " ", m["email_verified"], " ", m["locale"]); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if m["sub"] != "u-1" || m["department"] != nil || m["aud"] != tc.client {
			t.Errorf("%s: %v", name, m)
		}
	}
	t.Run("S19 a refresh tells what is known now", func(t *testing.T) {
		p := newParty(t, g, "named")
		old := p.signIn(harness.NewBrowser(t, g.ID), username, "nonce-1")
		fresh, err := p.config.TokenSource(t.Context(), expired(old)).Token()
		if err != nil {
			t.Fatal(err)
		}
		if m := claimsOf(t, rawID(t, fresh)); m["name"] != "Alice Liddell" {
			t.Errorf("%v", m)
		}
	})
}
