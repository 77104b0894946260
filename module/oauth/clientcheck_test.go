package oauth

import (
	"strings"
	"testing"
	"time"
)

func TestInvalidClients(t *testing.T) {
	end := map[GrantType]time.Time{Password: time.Unix(1_900_000_000, 0)}
	good := func() *Client {
		return &Client{
			ID: "web", SecretHashes: []string{"x"}, RedirectURIs: []string{"https://web.example/cb"}, Grants: []GrantType{AuthorizationCode},
			Scopes: []string{"read"}, Origins: []string{"https://web.example"}, PostLogoutRedirectURIs: []string{"https://web.example/out"},
		}
	}
	known := []string{"read", "write"}
	if err := good().Check(known); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Client){
		"the id must be":                        func(c *Client) { c.ID = "a\tb" },
		"1 to 128":                              func(c *Client) { c.ID = strings.Repeat("a", 129) },
		"has no secret":                         func(c *Client) { c.Public = true },
		"does not authenticate":                 func(c *Client) { c.Public, c.SecretHashes, c.JWKS = true, nil, "{}" },
		"expected one of: secret":               func(c *Client) { c.SecretHashes = nil },
		"auth_method tls_client":                func(c *Client) { c.AuthMethod = "tls_client_auth" },
		"sends no secret":                       func(c *Client) { c.Public, c.SecretHashes, c.AuthMethod = true, nil, "client_secret_post" },
		"needs jwks":                            func(c *Client) { c.AuthMethod = PrivateKeyJWT },
		"leaves the secret":                     func(c *Client) { c.AuthMethod, c.JWKS = PrivateKeyJWT, "{}" },
		"leaves jwks":                           func(c *Client) { c.AuthMethod, c.JWKS = "client_secret_post", "{}" },
		"grant magic is unknown":                func(c *Client) { c.Grants = []GrantType{"magic"} },
		"grant password is depre":               func(c *Client) { c.Grants = []GrantType{Password} },
		"deprecated grant magic":                func(c *Client) { c.Until = map[GrantType]time.Time{"magic": {}} },
		"needs a redirect_uri":                  func(c *Client) { c.RedirectURIs = nil },
		"implicit grant needs":                  func(c *Client) { c.RedirectURIs, c.Grants, c.Until = nil, nil, map[GrantType]time.Time{Implicit: {}} },
		"cannot use client_cred":                func(c *Client) { c.Public, c.SecretHashes, c.Grants = true, nil, []GrantType{ClientCredentials} },
		"cannot use the password":               func(c *Client) { c.Public, c.SecretHashes, c.Grants, c.Until = true, nil, nil, end },
		"introspect_by_status needs introspect": func(c *Client) { c.IntrospectByStatus = true },
		"cannot introspect":                     func(c *Client) { c.Public, c.SecretHashes, c.Introspect = true, nil, true },
		"id_token_alg none":                     func(c *Client) { c.IDTokenAlg = "none" },
		"userinfo_content_type a":               func(c *Client) { c.UserinfoContentType = "a" },
		"redirect_uri http://a/":                func(c *Client) { c.RedirectURIs = []string{"http://a/"} },
		"post_logout_redirect_uri ":             func(c *Client) { c.PostLogoutRedirectURIs = []string{"x"} },
		"origin https://a/":                     func(c *Client) { c.Origins = []string{"https://a/"} },
		"scope admin is not decl":               func(c *Client) { c.Scopes = []string{"admin"} },
		"an audience is empty":                  func(c *Client) { c.Audience = []string{"https://a.example", ""} },
		"default_scopes: write":                 func(c *Client) { c.DefaultScopes = []string{"write"} },
	} {
		c := good()
		spoil(c)
		if err := c.Check(known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	both := good()
	both.JWKS = "{}"
	if err := both.Check(known); err != nil {
		t.Errorf("a secret and keys, either of which will do: %v", err)
	}
}
