package authserver_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

const (
	metadataAddress  = "https://id.example/.well-known/oauth-authorization-server/auth"
	discoveryAddress = tokenIssuer + "/.well-known/openid-configuration"
	keysAddress      = tokenIssuer + "/.well-known/jwks.json"
)

func TestMetadataAdvertisesWhatWorks(t *testing.T) { // M01, M02
	g := newTokenRig(t)
	a := g.do("GET", metadataAddress, "")
	if oidc := g.do("GET", discoveryAddress, ""); oidc.body != a.body || oidc.header.Get("ETag") != a.header.Get("ETag") {
		t.Errorf("the documents differ: %s", oidc.body)
	}
	var got map[string]json.RawMessage
	g.must(json.Unmarshal([]byte(a.body), &got))
	want := map[string]string{
		"issuer":                                `"https://id.example/auth"`,
		"authorization_endpoint":                `"https://id.example/auth/authorize"`,
		"token_endpoint":                        `"https://id.example/auth/token"`,
		"jwks_uri":                              `"https://id.example/auth/.well-known/jwks.json"`,
		"userinfo_endpoint":                     `"https://id.example/auth/userinfo"`,
		"end_session_endpoint":                  `"https://id.example/auth/logout"`,
		"revocation_endpoint":                   `"https://id.example/auth/revoke"`,
		"introspection_endpoint":                `"https://id.example/auth/introspect"`,
		"pushed_authorization_request_endpoint": `"https://id.example/auth/par"`,
		"device_authorization_endpoint":         `"https://id.example/auth/device_authorization"`,

		"scopes_supported":                      `["openid","profile","email","offline_access","read","write"]`,
		"response_types_supported":              `["code"]`,
		"response_modes_supported":              `["query"]`,
		"grant_types_supported":                 `["authorization_code","refresh_token","client_credentials","urn:ietf:params:oauth:grant-type:device_code"]`,
		"subject_types_supported":               `["public"]`,
		"code_challenge_methods_supported":      `["S256"]`,
		"ui_locales_supported":                  `["en","zh"]`,
		"id_token_signing_alg_values_supported": `["ES256"]`,
		"userinfo_signing_alg_values_supported": `["ES256"]`,
		"claim_types_supported":                 `["normal"]`,
		"claims_supported": `["iss","sub","aud","azp","exp","iat","auth_time","nonce","at_hash","sid","name","given_name",` +
			`"family_name","middle_name","nickname","preferred_username","profile","picture","website","gender","birthdate",` +
			`"zoneinfo","locale","updated_at","email","email_verified"]`,

		"token_endpoint_auth_methods_supported":                    `["client_secret_basic","client_secret_post","private_key_jwt","none"]`,
		"token_endpoint_auth_signing_alg_values_supported":         `["ES256","EdDSA","PS256","RS256"]`,
		"revocation_endpoint_auth_methods_supported":               `["client_secret_basic","client_secret_post","private_key_jwt","none"]`,
		"revocation_endpoint_auth_signing_alg_values_supported":    `["ES256","EdDSA","PS256","RS256"]`,
		"introspection_endpoint_auth_methods_supported":            `["client_secret_basic","client_secret_post","private_key_jwt"]`,
		"introspection_endpoint_auth_signing_alg_values_supported": `["ES256","EdDSA","PS256","RS256"]`,

		"authorization_response_iss_parameter_supported": `true`,
		"claims_parameter_supported":                     `false`,
		"request_parameter_supported":                    `false`,
		"request_uri_parameter_supported":                `false`,
	}
	for name, value := range want {
		if string(got[name]) != value {
			t.Errorf("%s: %s, want %s", name, got[name], value)
		}
		delete(got, name)
	}
	if a.status != 200 || len(got) != 0 {
		t.Errorf("%d, and besides: %s", a.status, got)
	}
}

func TestMetadataOfAnIssuerWithoutPath(t *testing.T) { // M01
	g := newTokenRig(t, func(c *authserver.Config) { c.Issuer = &url.URL{Scheme: "http", Host: "localhost:8080"} })
	a := g.do("GET", "http://localhost:8080/.well-known/oauth-authorization-server", "")
	if a.status != 200 || !strings.HasPrefix(a.body, `{"issuer":"http://localhost:8080","authorization_endpoint":"http://localhost:8080/authorize"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestMetadataIgnoresTheRequest(t *testing.T) { // M03, A38
	g := newTokenRig(t)
	for _, address := range []string{metadataAddress, discoveryAddress, keysAddress} {
		plain := g.do("GET", address, "")
		spoofed := g.do("GET", strings.Replace(address, "id.example", "evil.example", 1), "",
			"X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "http", "X-Forwarded-Prefix", "/evil",
			"X-Forwarded-Port", "81", "Forwarded", "host=evil.example;proto=http", "X-Original-URL", "/evil")
		if plain.status != 200 || plain.body != spoofed.body || plain.header.Get("ETag") != spoofed.header.Get("ETag") {
			t.Errorf("%s: %s", address, spoofed.body)
		}
	}
}

func TestPublishedDocumentsAreCacheable(t *testing.T) { // M04, M06
	g := newTokenRig(t)
	for _, address := range []string{metadataAddress, discoveryAddress, keysAddress} {
		a := g.do("GET", address, "")
		etag := a.header.Get("ETag")
		if a.status != 200 || a.header.Get("Content-Type") != "application/json; charset=utf-8" || etag == "" ||
			a.header.Get("Cache-Control") != "public, max-age=300" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%d %v", a.status, a.header)
		}
		for sent, status := range map[string]int{
			etag: 304, "W/" + etag: 304, `"x", ` + etag: 304, "*": 304, `"x"`: 200, etag[1:]: 200, "": 200,
		} {
			if a := g.do("GET", address, "", "If-None-Match", sent); a.status != status || (a.body == "") != (status == 304) || a.header.Get("ETag") != etag {
				t.Errorf("If-None-Match %s: %d %q", sent, a.status, a.body)
			}
		}
		if a := g.do("HEAD", address, ""); a.status != 200 || a.body != "" {
			t.Errorf("HEAD: %d %q", a.status, a.body)
		}
		g.want(g.do("POST", address, ""), 405, "invalid_request")
	}
}

func TestUnreadableKeySetIsUnavailableAndUncached(t *testing.T) {
	g := newTokenRig(t)
	g.tokens.fault = errLost
	g.want(g.do("GET", keysAddress, ""), 503, "temporarily_unavailable")
}

func TestPublishedKeysArePublic(t *testing.T) { // M04
	g := newTokenRig(t)
	var set struct{ Keys []map[string]any }
	g.must(json.Unmarshal([]byte(g.do("GET", keysAddress, "").body), &set))
	if len(set.Keys) == 0 {
		t.Fatal("no keys")
	}
	for _, k := range set.Keys {
		for member := range k {
			if !slices.Contains([]string{"kty", "kid", "use", "alg", "n", "e", "crv", "x", "y"}, member) {
				t.Errorf("a key has %q", member)
			}
		}
	}
}
