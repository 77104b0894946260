package registration

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/oauth"
)

func FuzzRegistration(f *testing.F) {
	for _, s := range []string{
		`{"redirect_uris":["https://a.example/"]}`, `{"redirect_uris":["https://a.example/"],"scope":"read admin"}`, `null`, `{}`, `[`,
		`{"redirect_uris":["com.a:/"],"application_type":"native","token_endpoint_auth_method":"none"}`,
		`{"redirect_uris":["https://a.example/"],"token_endpoint_auth_method":"private_key_jwt","jwks":{"keys":[{"kty":"oct","k":"AA"}]}}`,
		`{"redirect_uris":["https://a.example/"],"client_name":"\u202e"}`, `{"Redirect_URIs":["https://a.example/"]}`,
	} {
		f.Add([]byte(s))
	}
	ceiling := []string{"read", "write"}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, refused := parseMetadata(body)
		if refused != nil {
			return
		}
		c, refused := m.newClient(ceiling, oauth.IDTokenAlgs)
		if refused != nil {
			if code := oauthhttp.AsError(refused).Code; c != nil || code != oauth.InvalidClientMetadata && code != oauth.InvalidRedirectURI {
				t.Fatalf("%s: %v", body, refused)
			}
			return
		}
		switch {
		case !c.SelfRegistered || c.Trusted || c.Introspect || len(c.Audience)+len(c.SecretHashes)+len(c.Until) > 0:
			t.Fatalf("%s took what it may not choose: %+v", body, c)
		case !oauth.Subset(c.Scopes, ceiling):
			t.Fatalf("%s got the scopes %v", body, c.Scopes)
		case !slices.Contains(c.Grants, oauth.AuthorizationCode) || slices.ContainsFunc(c.Grants, func(g oauth.GrantType) bool {
			return g != oauth.AuthorizationCode && g != oauth.RefreshToken
		}):
			t.Fatalf("%s got the grants %v", body, c.Grants)
		case c.Public && c.AuthMethod != "", !c.Public && c.AuthMethod == "", (c.AuthMethod == oauth.PrivateKeyJWT) != (c.JWKS != ""):
			t.Fatalf("%s authenticates by %q", body, c.AuthMethod)
		case len(c.RedirectURIs) == 0 || len(c.RedirectURIs) > maxRegisteredTo:
			t.Fatalf("%s has %d addresses", body, len(c.RedirectURIs))
		case utf8.RuneCountInString(c.Name) > maxClientName || strings.ContainsAny(c.Name, "\r\n\t\x00\u202e\u2066"):
			t.Fatalf("%s is called %q", body, c.Name)
		}
		for _, uri := range c.RedirectURIs {
			if err := oauth.CheckRedirectURI(uri, c.Native); err != nil {
				t.Fatalf("%s goes to %s: %v", body, uri, err)
			}
		}
		if !json.Valid(body) {
			t.Fatalf("%q is no JSON", body)
		}
	})
}
