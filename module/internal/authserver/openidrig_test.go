package authserver_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const (
	rpRedirect = "https://rp.example/cb"
	rpBye      = "https://rp.example/bye?from=id"
)

// openIDRig is a server with two relying parties of one's own, rp and rq, an application
// of the past, old, and the users ann, of whom much is known, and bob.
type openIDRig struct {
	*tokenRig
	events *trail
}

func newOpenIDRig(t *testing.T, change ...func(*authserver.Config)) *openIDRig {
	t.Helper()
	users := directorytest.NewMemory(
		directorytest.Seed{Password: "x", User: directory.User{
			ID: "u1", Username: "ann", Name: "Ann Lee", Nickname: "Annie", Picture: "https://pictures.example/ann.png",
			Email: "ann@example.com", Phone: "+4930123456",
			Claims: map[string]any{
				"locale": "de-DE", "zoneinfo": "Europe/Berlin", "given_name": "Ann", "family_name": "Lee", "updated_at": float64(1_700_000_000),
				"email_verified": true, "phone_number_verified": false, "address": map[string]any{"country": "DE"},
				"name": "Somebody Else", "sub": "u2", "iss": "https://evil.example", "aud": "evil", "exp": float64(1), "nonce": "evil", "azp": "evil",
				"department": "41", "groups": []any{"admin"}, "website": "", "gender": true, "birthdate": 19, "profile": nil,
			},
		}},
		directorytest.Seed{Password: "y", User: directory.User{ID: "u2", Username: "bob", Claims: map[string]any{"email_verified": true}}},
	)
	events := &trail{}
	g := newBrowserRig(t, append([]func(*authserver.Config){func(c *authserver.Config) {
		c.Directory, c.Audit = users, events
	}}, change...)...)
	g.users = users
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	scopes := []string{"openid", "profile", "email", "phone", "address", "read", "write", "offline_access"}
	for _, id := range []string{"rp", "rq"} {
		g.clients.all[id] = &oauth.Client{
			ID: id, SecretHashes: []string{secret.Digest(webSecret)}, Trusted: true, Scopes: scopes, IDTokenAlg: "ES256",
			Grants:                 []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken},
			RedirectURIs:           []string{rpRedirect},
			PostLogoutRedirectURIs: []string{rpBye, "com.example.rp:/bye"},
			Audience:               []string{"https://api.example", "https://other.example"},
		}
	}
	return &openIDRig{g, events}
}

// withImplicit gives the client old the implicit grant for a day.
func (g *openIDRig) withImplicit() *openIDRig {
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	g.clients.all["old"] = &oauth.Client{
		ID: "old", Public: true, Grants: []oauth.GrantType{oauth.Implicit}, Scopes: []string{"read", "openid"},
		Until:        map[oauth.GrantType]time.Time{oauth.Implicit: g.now().Add(24 * time.Hour)},
		RedirectURIs: []string{"https://old.example/cb?a=b"}, Audience: []string{"https://api.example", "https://other.example"},
	}
	return g
}

func rpRequest() params {
	return params{"client_id": "rp", "redirect_uri": rpRedirect, "response_type": "code", "scope": "openid", "state": "S", "nonce": "N"}
}

func oldRequest() params {
	return params{"client_id": "old", "redirect_uri": "https://old.example/cb?a=b", "response_type": "token", "scope": "read", "state": "S"}
}

// signedInAs is a browser in which a user is signed in.
func (g *openIDRig) signedInAs(username, password string) *tab {
	g.t.Helper()
	b := g.browser()
	g.issued(b.signIn(b.get(authorizeURL(rpRequest())), username, password), http.StatusSeeOther)
	return b
}

// openIDAnswer is an answer of the token endpoint with its id_token.
type openIDAnswer struct {
	answer
	id string
}

func (g *openIDRig) redeem(client, code string) openIDAnswer {
	g.t.Helper()
	return g.idToken(g.want(g.token(params{
		"grant_type": "authorization_code", "code": code, "redirect_uri": rpRedirect, "client_id": client, "client_secret": webSecret,
	}), http.StatusOK, ""))
}

func (g *openIDRig) idToken(a answer) openIDAnswer {
	g.t.Helper()
	var v struct {
		IDToken string `json:"id_token"`
	}
	g.must(json.Unmarshal([]byte(a.body), &v))
	return openIDAnswer{a, v.IDToken}
}

// tokens are what the browser's user gives rp.
func (g *openIDRig) tokensOf(b *tab, p params) openIDAnswer {
	g.t.Helper()
	return g.redeem(p["client_id"], g.issued(b.get(authorizeURL(p)), http.StatusFound))
}

// claimsOf reads a token of ours without any check.
func claimsOf(t *testing.T, raw string) map[string]any {
	t.Helper()
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		t.Fatalf("no JWT: %q", raw)
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func headerOf(t *testing.T, raw string) map[string]any {
	t.Helper()
	header, _, _ := strings.Cut(raw, ".")
	return claimsOf(t, "."+header+".")
}

// userinfo asks with a token in the header.
func (g *openIDRig) userinfo(access string, header ...string) answer {
	g.t.Helper()
	g.alive(access) // waits for the revocations to be known
	return g.do(http.MethodGet, tokenIssuer+"/userinfo", "", append([]string{"Authorization", "Bearer " + access}, header...)...)
}
