package oauth

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestInvalidVariantBClients(t *testing.T) {
	good := func() *Client {
		return &Client{
			ID: "portal", SecretHashes: []string{"x"}, VariantB: true, RedirectURIs: []string{"https://portal.example/wx", "http://127.0.0.1:8080/wx"},
			Grants: []GrantType{AuthorizationCode, RefreshToken}, Scopes: []string{SNSLogin, SNSUserinfo, SNSBase, "read"},
			FrameOrigins: []string{"https://portal.example", "https://portal.example:8443", "http://127.0.0.1:8080", "http://[::1]:8080"},
			Audience:     []string{"https://api.example"}, Owner: "Acme", Trusted: true, UserinfoContentType: "text",
		}
	}
	known := append(slices.Clone(BuiltinScopes), "read")
	if err := good().Check(known); err != nil {
		t.Fatal(err)
	}
	end := map[GrantType]time.Time{Password: time.Unix(1_900_000_000, 0)}
	for want, spoil := range map[string]func(*Client){
		"cannot be public":                      func(c *Client) { c.Public, c.SecretHashes = true, nil },
		"needs a secret or secret_hash":         func(c *Client) { c.SecretHashes = nil },
		"needs a redirect_uri":                  func(c *Client) { c.RedirectURIs = nil },
		"cannot have jwks":                      func(c *Client) { c.JWKS = "{}" },
		"cannot have auth_method":               func(c *Client) { c.AuthMethod = "client_secret_post" },
		"cannot have native":                    func(c *Client) { c.Native = true },
		"cannot have post_logout_redirect_uri":  func(c *Client) { c.PostLogoutRedirectURIs = []string{"https://portal.example/"} },
		"cannot have origins":                   func(c *Client) { c.Origins = []string{"https://portal.example"} },
		"cannot have deprecated_grant":          func(c *Client) { c.Grants, c.Until = append(c.Grants, Password), end },
		"cannot have grants":                    func(c *Client) { c.Grants = append(c.Grants, DeviceCode) },
		"cannot have default_scopes":            func(c *Client) { c.DefaultScopes = []string{SNSLogin} },
		"cannot have introspect":                func(c *Client) { c.Introspect = true },
		"cannot have id_token_alg":              func(c *Client) { c.IDTokenAlg = "ES256" },
		"userinfo_content_type application/jwt": func(c *Client) { c.UserinfoContentType = "application/jwt" },
		"expected one of: auto, json, text":     func(c *Client) { c.UserinfoContentType = "html" },
		"redirect_uri http://a/":                func(c *Client) { c.RedirectURIs = []string{"http://a/"} },
		"frame_origin https://a/ must":          func(c *Client) { c.FrameOrigins = []string{"https://a/"} },
		"frame_origin http://a must be https":   func(c *Client) { c.FrameOrigins = []string{"http://a"} },
		"frame_origin https://a;sandbox must":   func(c *Client) { c.FrameOrigins = []string{"https://a;sandbox"} },
		"frame_origin https://* must":           func(c *Client) { c.FrameOrigins = []string{"https://*"} },
		"frame_origin null must":                func(c *Client) { c.FrameOrigins = []string{"null"} },
		"scope openid cannot be":                func(c *Client) { c.Scopes = append(c.Scopes, "openid") },
		"scope write is not declared":           func(c *Client) { c.Scopes = append(c.Scopes, "write") },
		"expected one of: snsapi_login, snsapi_userinfo, snsapi_base, read": func(c *Client) { c.Scopes = []string{SNSBase, "write"} },
		"needs one or more of the scopes snsapi_login":                      func(c *Client) { c.Scopes = []string{"read"} },
	} {
		c := good()
		spoil(c)
		if err := c.Check(known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func TestVariantBSettingsNeedAVariantBClient(t *testing.T) {
	good := func() *Client {
		return &Client{ID: "web", SecretHashes: []string{"x"}, Grants: []GrantType{DeviceCode, RefreshToken}, Scopes: []string{"read"}}
	}
	known := []string{"read"}
	if err := good().Check(known); err != nil {
		t.Fatalf("a device client: %v", err)
	}
	for want, spoil := range map[string]func(*Client){
		"frame_origins are of variant_b":            func(c *Client) { c.FrameOrigins = []string{"https://a.example"} },
		"scope snsapi_login is of variant_b":        func(c *Client) { c.Scopes = append(c.Scopes, SNSLogin) },
		"scope snsapi_base is of variant_b clients": func(c *Client) { c.DefaultScopes = []string{SNSBase} },
		"userinfo_content_type auto":                func(c *Client) { c.UserinfoContentType = "auto" },
		"expected one of: application/json, appli":  func(c *Client) { c.UserinfoContentType = "text" },
	} {
		c := good()
		spoil(c)
		if err := c.Check(append(slices.Clone(VariantBScopes), known...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func TestDeviceGrantHasAShortName(t *testing.T) {
	named := &Client{Grants: []GrantType{"device_code", "refresh_token", DeviceCode}}
	err := named.Resolve(nil)
	got := named.Grants
	if err != nil || !slices.Equal(got, []GrantType{DeviceCode, RefreshToken, DeviceCode}) {
		t.Errorf("%v", got)
	}
	public := &Client{ID: "tv", Public: true, Grants: got[:2]}
	if err := public.CheckKind(); err != nil {
		t.Errorf("a public client without a redirect address: %v", err)
	}
}
