package gateway

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/loadedfiles"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const clientKeys = `{"keys":[{"kty":"EC","crv":"P-256","kid":"1","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}`

func TestJSONClientIsCheckedLikeCaddyfileClient(t *testing.T) {
	hash := HashClientSecret("")
	for want, c := range map[string]Client{
		"origin https://a.example/x must":        {Client: oauth.Client{Origins: []string{"https://a.example/x"}}, SecretHashes: []string{hash}},
		"post_logout_redirect_uri https://a/#":   {Client: oauth.Client{PostLogoutRedirectURIs: []string{"https://a/#x"}}, SecretHashes: []string{hash}},
		"grant password is deprecated":           {Client: oauth.Client{Grants: []oauth.GrantType{"password"}}, SecretHashes: []string{hash}},
		"deprecated grant device is unknown":     {SecretHashes: []string{hash}, DeprecatedGrants: map[string]string{"device": "2027-01-01"}},
		`the end "" must be a day`:               {SecretHashes: []string{hash}, DeprecatedGrants: map[string]string{"password": ""}},
		"must be a day written":                  {SecretHashes: []string{hash}, DeprecatedGrants: map[string]string{"password": "2027-02-30"}},
		"a public client cannot use the pass":    {Client: oauth.Client{Public: true}, DeprecatedGrants: map[string]string{"password": "2027-01-01"}},
		"the implicit grant needs":               {SecretHashes: []string{hash}, DeprecatedGrants: map[string]string{"implicit": "2027-01-01"}},
		"a public client cannot introspect":      {Client: oauth.Client{Public: true, RedirectURIs: []string{"https://a/"}, Introspect: true}},
		"an audience is empty":                   {Client: oauth.Client{Audience: []string{""}}, SecretHashes: []string{hash}},
		"id_token_alg none":                      {Client: oauth.Client{IDTokenAlg: "none"}, SecretHashes: []string{hash}},
		"userinfo_content_type text/html":        {Client: oauth.Client{UserinfoContentType: "text/html"}, SecretHashes: []string{hash}},
		"needs jwks":                             {Client: oauth.Client{AuthMethod: oauth.PrivateKeyJWT}, SecretHashes: []string{hash}},
		"jwks: the JWK set is not of the form":   {Client: oauth.Client{JWKS: `{"a":1}`}},
		"jwks: key 1 of the JWK set":             {Client: oauth.Client{JWKS: `{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`}},
		"jwks: /nonexistent/keys: no such":       {Client: oauth.Client{JWKS: "/nonexistent/keys"}},
		"expected one of: secret, secret_hash, ": {},
		"variant_b client cannot be public":      {Client: oauth.Client{Public: true, VariantB: true, RedirectURIs: []string{"https://a/"}}},
		"variant_b client needs a secret":        {Client: oauth.Client{VariantB: true, RedirectURIs: []string{"https://a/"}, Scopes: []string{"snsapi_login"}}},
		"variant_b client needs a redirect_uri":  {Client: oauth.Client{VariantB: true, Scopes: []string{"snsapi_login"}}, SecretHashes: []string{hash}},
		"variant_b client needs one or more":     {Client: oauth.Client{VariantB: true, RedirectURIs: []string{"https://a/"}}, SecretHashes: []string{hash}},
		"scope snsapi_login is of variant_b":     {Client: oauth.Client{RedirectURIs: []string{"https://a/"}, Scopes: []string{"snsapi_login"}}, SecretHashes: []string{hash}},
		"scope openid cannot be a variant_b":     {Client: oauth.Client{VariantB: true, RedirectURIs: []string{"https://a/"}, Scopes: []string{"snsapi_login", "openid"}}, SecretHashes: []string{hash}},
		"frame_origin https://a/x must":          {Client: oauth.Client{VariantB: true, RedirectURIs: []string{"https://a/"}, Scopes: []string{"snsapi_login"}, FrameOrigins: []string{"https://a/x"}}, SecretHashes: []string{hash}},
		"frame_origins are of variant_b":         {Client: oauth.Client{FrameOrigins: []string{"https://a"}}, SecretHashes: []string{hash}},
		"userinfo_content_type text is unknown":  {Client: oauth.Client{UserinfoContentType: "text"}, SecretHashes: []string{hash}},
		"userinfo_content_type application/json": {Client: oauth.Client{VariantB: true, RedirectURIs: []string{"https://a/"}, Scopes: []string{"snsapi_login"}, UserinfoContentType: "application/json"}, SecretHashes: []string{hash}},
	} {
		c.ID = "a"
		_, err := c.build(oauth.BuiltinScopes, caddy.NewReplacer(), loadedfiles.Files{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func TestDefaultGrantsOfAClient(t *testing.T) {
	for name, c := range map[string]struct {
		client Client
		want   []oauth.GrantType
	}{
		"a machine":                  {Client{}, []oauth.GrantType{oauth.ClientCredentials}},
		"a redirect address":         {Client{Client: oauth.Client{RedirectURIs: []string{"https://a/"}}}, []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken}},
		"a deprecated grant":         {Client{DeprecatedGrants: map[string]string{"password": "2027-01-01"}}, []oauth.GrantType{oauth.Password}},
		"a deprecated grant besides": {Client{Client: oauth.Client{Grants: []oauth.GrantType{"refresh_token"}}, DeprecatedGrants: map[string]string{"password": "2027-01-01"}}, []oauth.GrantType{oauth.RefreshToken, oauth.Password}},
		"implicit, on its way out": {Client{Client: oauth.Client{RedirectURIs: []string{"https://a/"}}, DeprecatedGrants: map[string]string{"implicit": "2027-01-01"}},
			[]oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken, oauth.Implicit}},
	} {
		if got, err := c.client.resolve(); err != nil || !slices.Equal(got.Grants, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestDeprecatedGrantEndsAtTheStartOfItsDay(t *testing.T) {
	c := Client{Client: oauth.Client{ID: "till"}, SecretHashes: []string{HashClientSecret("")}, DeprecatedGrants: map[string]string{"password": "2027-06-30"}}
	built, err := c.build(oauth.BuiltinScopes, caddy.NewReplacer(), loadedfiles.Files{})
	if err != nil {
		t.Fatal(err)
	}
	end := time.Date(2027, 6, 30, 0, 0, 0, 0, time.UTC)
	if !built.MayUse(oauth.Password) || built.Ended(oauth.Password, end.Add(-time.Nanosecond)) || !built.Ended(oauth.Password, end) {
		t.Errorf("%+v", built)
	}
}

func TestKeySetSources(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(file, []byte(clientKeys), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CLIENT_KEYS", clientKeys)
	t.Setenv("CLIENT_DIR", filepath.Dir(file))
	for _, given := range []string{clientKeys, " " + clientKeys, file, "{env.CLIENT_KEYS}", "{file." + file + "}", "{env.CLIENT_DIR}/keys.json"} {
		c := Client{Client: oauth.Client{ID: "a", JWKS: given}}
		built, err := c.build(oauth.BuiltinScopes, caddy.NewReplacer(), loadedfiles.Files{})
		if err != nil || strings.TrimSpace(built.JWKS) != clientKeys {
			t.Errorf("%.40s: %v", given, err)
		}
	}
	large := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(large, make([]byte, 33<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadJWKS(large, caddy.NewReplacer(), loadedfiles.Files{}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a large file: %v", err)
	}
	if _, err := loadJWKS("{env.CLIENT_KEYS_MISSING}", caddy.NewReplacer(), loadedfiles.Files{}); err == nil {
		t.Error("an unset variable is no error")
	}
}

func TestRegistrationNeedsAStrongTokenFromAPlaceholder(t *testing.T) {
	t.Setenv("STRONG", "0123456789-0123456789-0123456789")
	t.Setenv("WEAK", "0123456789")
	for want, r := range map[string]Registration{
		"expected an initial_token":   {},
		"initial_token 2: expected":   {InitialTokens: []string{"{env.STRONG}", "literal-0123456789-0123456789-0123456789"}},
		"max: got -1":                 {InitialTokens: []string{"{env.STRONG}"}, Max: -1},
		"scope write is not declared": {InitialTokens: []string{"{env.STRONG}"}, Scopes: []string{"write"}},
		"registration: max":           {InitialTokens: []string{"{env.STRONG}"}, Max: -2},
	} {
		if err := (&App{Registration: &r}).check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	if _, err := (&Registration{InitialTokens: []string{"{env.WEAK}"}}).build(caddy.NewReplacer()); err == nil || !strings.Contains(err.Error(), "10 characters") {
		t.Errorf("a weak token: %v", err)
	}
	if rules, err := (&Registration{InitialTokens: []string{"{env.STRONG}"}}).build(caddy.NewReplacer()); err != nil || len(rules.InitialTokens) != 1 || len(rules.InitialTokens[0]) != 64 {
		t.Errorf("%+v %v", rules, err)
	}
}

func TestVariantBClientGetsDefaultGrants(t *testing.T) {
	c := Client{Client: oauth.Client{ID: "portal", VariantB: true, RedirectURIs: []string{"https://a/"}, Scopes: []string{"snsapi_login"}}, SecretHashes: []string{HashClientSecret("")}}
	built, err := c.build(oauth.BuiltinScopes, caddy.NewReplacer(), loadedfiles.Files{})
	if err != nil {
		t.Fatal(err)
	}
	if !built.VariantB || !slices.Equal(built.Scopes, c.Scopes) || !slices.Equal(built.Grants, []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken}) {
		t.Errorf("%+v", built)
	}
	c.Grants = []oauth.GrantType{"authorization_code", "refresh_token"}
	if err := c.CheckKind(); err == nil || !strings.Contains(err.Error(), "cannot have grants") {
		t.Errorf("grants that are written down: %v", err)
	}
}

func TestVariantBTokenLifetimeDefaultsToTwoHours(t *testing.T) {
	for access, want := range map[time.Duration][3]time.Duration{
		0:                {time.Hour, 2 * time.Hour, 2 * time.Hour},
		10 * time.Minute: {10 * time.Minute, 10 * time.Minute, 10 * time.Minute},
		5 * time.Hour:    {5 * time.Hour, 5 * time.Hour, 5 * time.Hour},
	} {
		tokens := Tokens{Access: caddy.Duration(access)}
		if got := [3]time.Duration{tokens.accessLife(), tokens.variantBLife(), tokens.longestLife()}; got != want {
			t.Errorf("%v: %v, want %v", access, got, want)
		}
	}
}

func TestClientErrorNamesItsField(t *testing.T) {
	site := Client{Client: oauth.Client{ID: "a", RedirectURIs: []string{"https://a/"}, Scopes: []string{"openid"}}, SecretHashes: []string{HashClientSecret("")}}
	portal := site
	portal.VariantB, portal.Scopes = true, []string{"snsapi_login"}
	for want, c := range map[string]struct {
		client Client
		change func(*Client)
	}{
		"a variant_b client cannot be public|variant_b":         {portal, func(c *Client) { c.Public = true }},
		"a variant_b client cannot have grants|variant_b":       {portal, func(c *Client) { c.Grants = []oauth.GrantType{"refresh_token"} }},
		"a variant_b client needs a redirect_uri|redirect_uris": {portal, func(c *Client) { c.RedirectURIs = nil }},
		"a variant_b client needs one or more|scopes":           {portal, func(c *Client) { c.Scopes = nil }},
		"frame_origin https://a/ must be|frame_origins":         {portal, func(c *Client) { c.FrameOrigins = []string{"https://a/"} }},
		"frame_origins are of variant_b clients|frame_origins":  {site, func(c *Client) { c.FrameOrigins = []string{"https://a"} }},
		"scope snsapi_login is of variant_b|scopes":             {site, func(c *Client) { c.Scopes = []string{"snsapi_login"} }},
		"the id must be|id":                                    {site, func(c *Client) { c.ID = "a b" }},
		"redirect_uri x must be absolute|redirect_uris":        {site, func(c *Client) { c.RedirectURIs = []string{"x"} }},
		"a public client has no secret|public":                 {site, func(c *Client) { c.Public = true }},
		"deprecated grant password: the end|deprecated_grants": {site, func(c *Client) { c.DeprecatedGrants = map[string]string{"password": "soon"} }},
	} {
		changed := c.client
		c.change(&changed)
		_, err := changed.build(oauth.BuiltinScopes, caddy.NewReplacer(), loadedfiles.Files{})
		text, field, _ := strings.Cut(want, "|")
		var wrong *oauth.FieldError
		if !errors.As(err, &wrong) || wrong.Fields[0] != field || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, expected %q about %s", err, text, field)
		}
	}
}
