package gateway

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// PrivateKeyJWT is the way to authenticate with a signed assertion (RFC 7523).
const PrivateKeyJWT = "private_key_jwt"

// What a client may be configured with, by the names of RFC 7591 section 2 and OpenID
// Connect Registration section 2.
var (
	AuthMethods          = []string{"client_secret_basic", "client_secret_post", PrivateKeyJWT}
	IDTokenAlgs          = []string{"RS256", "ES256", "EdDSA"}
	UserinfoContentTypes = []string{"application/json", "application/jwt"}
)

// Check reports what is wrong with a client, given the scopes that are declared.
// Secrets that are placeholders are looked at when they are resolved.
func (c Client) Check(known []string) error {
	if err := c.CheckKind(); err != nil {
		return err
	}
	for _, uri := range c.RedirectURIs {
		if err := oauth.CheckRedirectURI(uri, c.Native); err != nil {
			return fmt.Errorf("redirect_uri %s %w", uri, err)
		}
	}
	for _, uri := range c.PostLogoutRedirectURIs {
		if err := oauth.CheckRedirectURI(uri, c.Native); err != nil {
			return fmt.Errorf("post_logout_redirect_uri %s %w", uri, err)
		}
	}
	for _, o := range c.Origins {
		if err := oauth.CheckOrigin(o); err != nil {
			return fmt.Errorf("origin %s %w", o, err)
		}
	}
	for _, h := range c.SecretHashes {
		if err := CheckClientSecretHash(h); err != nil {
			return fmt.Errorf("secret_hash: %w", err)
		}
	}
	for _, s := range slices.Concat(c.Scopes, c.DefaultScopes) {
		if !slices.Contains(known, s) {
			return fmt.Errorf("scope %s is not declared; expected one of: %s", s, strings.Join(known, ", "))
		}
	}
	for _, s := range c.DefaultScopes {
		if !slices.Contains(c.Scopes, s) {
			return fmt.Errorf("default_scopes: %s is not among the client's scopes", s)
		}
	}
	return nil
}

// CheckKind reports what is wrong with id, authentication and grant types: what can be
// said of a client without knowing the rest of the configuration.
func (c Client) CheckKind() error {
	if c.ID == "" || len(c.ID) > 128 || strings.ContainsFunc(c.ID, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the id must be 1 to 128 printable ASCII characters without spaces")
	}
	for _, check := range []func() error{c.checkAuthentication, c.checkGrants, c.checkDeprecated} {
		if err := check(); err != nil {
			return err
		}
	}
	switch {
	case c.Introspect && c.Public:
		return errors.New("a public client cannot introspect: it has no credentials")
	case c.IDTokenAlg != "" && !slices.Contains(IDTokenAlgs, c.IDTokenAlg):
		return fmt.Errorf("id_token_alg %s is unknown; expected one of: %s", c.IDTokenAlg, strings.Join(IDTokenAlgs, ", "))
	case c.UserinfoContentType != "" && !slices.Contains(UserinfoContentTypes, c.UserinfoContentType):
		return fmt.Errorf("userinfo_content_type %s is unknown; expected one of: %s", c.UserinfoContentType, strings.Join(UserinfoContentTypes, ", "))
	}
	return nil
}

func (c Client) checkAuthentication() error {
	secrets := len(c.Secrets)+len(c.SecretHashes) > 0
	switch {
	case c.Public && secrets:
		return errors.New("a public client has no secret: remove `public` or the secret")
	case c.Public && c.JWKS != "":
		return errors.New("a public client does not authenticate: remove `public` or jwks")
	case !c.Public && !secrets && c.JWKS == "":
		return errors.New("expected one of: secret, secret_hash, jwks, public")
	case c.AuthMethod == "":
		return nil
	case !slices.Contains(AuthMethods, c.AuthMethod):
		return fmt.Errorf("auth_method %s is unknown; expected one of: %s", c.AuthMethod, strings.Join(AuthMethods, ", "))
	case c.Public:
		return errors.New("a public client sends no secret: remove `public` or auth_method")
	case c.AuthMethod == PrivateKeyJWT && c.JWKS == "":
		return errors.New("auth_method private_key_jwt needs jwks, the client's public keys")
	case c.AuthMethod == PrivateKeyJWT && secrets:
		return errors.New("auth_method private_key_jwt leaves the secret without a use: remove one of the two")
	case c.AuthMethod != PrivateKeyJWT && c.JWKS != "":
		return fmt.Errorf("auth_method %s leaves jwks without a use: remove one of the two", c.AuthMethod)
	}
	return nil
}

func (c Client) checkGrants() error {
	for _, g := range c.grants() {
		switch {
		case slices.Contains(oauth.DeprecatedGrantTypes, g) && c.DeprecatedGrants[string(g)] == "":
			return fmt.Errorf("grant %s is deprecated: it needs a day on which it ends, with deprecated_grant", g)
		case !slices.Contains(oauth.GrantTypes, g) && !slices.Contains(oauth.DeprecatedGrantTypes, g):
			return fmt.Errorf("grant %s is unknown; expected one of: %s", g, joinGrants(oauth.GrantTypes))
		case g == oauth.AuthorizationCode && len(c.RedirectURIs) == 0:
			return errors.New("the authorization_code grant needs a redirect_uri")
		case g == oauth.ClientCredentials && c.Public:
			return errors.New("a public client cannot use client_credentials: it has no credentials")
		}
	}
	return nil
}

func (c Client) checkDeprecated() error {
	for g, until := range c.DeprecatedGrants {
		switch {
		case !slices.Contains(oauth.DeprecatedGrantTypes, oauth.GrantType(g)):
			return fmt.Errorf("deprecated grant %s is unknown; expected one of: %s", g, joinGrants(oauth.DeprecatedGrantTypes))
		case g == string(oauth.Implicit) && len(c.RedirectURIs) == 0:
			return errors.New("the implicit grant needs a redirect_uri")
		case g == string(oauth.Password) && c.Public:
			return errors.New("a public client cannot use the password grant: any program could pose as it and try passwords")
		}
		if _, err := ParseEnd(until); err != nil {
			return fmt.Errorf("deprecated grant %s: %w", g, err)
		}
	}
	return nil
}

// ParseEnd reads the day from whose first moment in UTC a deprecated grant is refused.
func ParseEnd(day string) (time.Time, error) {
	end, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, fmt.Errorf("the end %q must be a day written as YYYY-MM-DD", day)
	}
	return end, nil
}

func (c Client) grants() []oauth.GrantType {
	var out []oauth.GrantType
	for _, g := range c.Grants {
		out = append(out, oauth.GrantType(g))
	}
	switch {
	case len(out) > 0:
	case len(c.RedirectURIs) > 0:
		out = []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken}
	case len(c.DeprecatedGrants) == 0:
		out = []oauth.GrantType{oauth.ClientCredentials}
	}
	for _, g := range oauth.DeprecatedGrantTypes {
		if c.DeprecatedGrants[string(g)] != "" && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

func joinGrants(grants []oauth.GrantType) string {
	var names []string
	for _, g := range grants {
		names = append(names, string(g))
	}
	return strings.Join(names, ", ")
}

// warnDeprecated reminds of the grants of the past at every load: each is to go.
func (a *App) warnDeprecated(now time.Time) {
	for _, c := range a.Clients {
		for _, g := range slices.Sorted(maps.Keys(c.DeprecatedGrants)) {
			until := c.DeprecatedGrants[g]
			if end, err := ParseEnd(until); err == nil && !now.Before(end) {
				a.log.Warn("the end of a deprecated grant has come: it is refused", "client", c.ID, "grant", g, "until", until)
				continue
			}
			a.log.Warn("a client may use a deprecated grant", "client", c.ID, "grant", g, "until", until)
		}
	}
}
