package oauth

import (
	"slices"
	"strings"
)

// PrivateKeyJWT is the way to authenticate with a signed assertion (RFC 7523).
const PrivateKeyJWT = "private_key_jwt"

// What a client may have, by the names of RFC 7591 section 2 and OpenID Connect Registration section 2.
var (
	AuthMethods          = []string{"client_secret_basic", "client_secret_post", PrivateKeyJWT}
	IDTokenAlgs          = []string{"RS256", "ES256", "EdDSA"}
	UserinfoContentTypes = []string{"application/json", "application/jwt"}
	IDTokenClaims        = []string{"profile", "email", "phone", "address"} // OpenID Connect Core section 5.4
)

// MaxClientID is the longest client_id, in characters.
const MaxClientID = 128

// ValidClientID reports whether a client may have this id: printable ASCII without
// spaces, so that it is one word in every list and log.
func ValidClientID(id string) bool {
	return id != "" && len(id) <= MaxClientID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Check reports what is wrong with a client, given the scopes that are declared, to whoever
// configures or registers it. It does not check the keys. The error is a [*FieldError].
func (c *Client) Check(known []string) error {
	if err := c.CheckKind(); err != nil {
		return err
	}
	checkAddress := func(uri string) error { return CheckRedirectURI(uri, c.Native) }
	for _, list := range []struct {
		field, word string
		values      []string
		check       func(string) error
	}{
		{"redirect_uris", "redirect_uri", c.RedirectURIs, checkAddress},
		{"post_logout_redirect_uris", "post_logout_redirect_uri", c.PostLogoutRedirectURIs, checkAddress},
		{"origins", "origin", c.Origins, CheckOrigin},
		{"frame_origins", "frame_origin", c.FrameOrigins, CheckFrameOrigin},
	} {
		for _, v := range list.values {
			if err := list.check(v); err != nil {
				return about{list.field}.errorf("%s %s %w", list.word, v, err)
			}
		}
	}
	if slices.Contains(c.Audience, "") {
		return about{"audience"}.errorf("an audience is empty")
	}
	for _, s := range slices.Concat(c.Scopes, c.DefaultScopes) {
		if err := c.CheckScope(s, known); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		field  string
		scopes []string
	}{{"id_token_claims", c.IDTokenClaims}, {"default_scopes", c.DefaultScopes}} {
		for _, s := range list.scopes {
			if !slices.Contains(c.Scopes, s) {
				return about{list.field}.errorf("%s: %s is not among the client's scopes", list.field, s)
			}
		}
	}
	return nil
}

// CheckKind is the part of Check that needs neither addresses nor scopes: id, authentication and grant types.
func (c *Client) CheckKind() error {
	if !ValidClientID(c.ID) {
		return about{"id"}.errorf("the id must be 1 to 128 printable ASCII characters without spaces")
	}
	for _, check := range []func() error{c.checkVariantB, c.checkAuthentication, c.checkGrants} {
		if err := check(); err != nil {
			return err
		}
	}
	switch {
	case c.Introspect && c.Public:
		return about{"public", "introspect"}.errorf("a public client cannot introspect: it has no credentials")
	case c.IntrospectByStatus && !c.Introspect:
		return about{"introspect_by_status"}.errorf("introspect_by_status needs introspect")
	case c.IDTokenAlg != "" && !slices.Contains(IDTokenAlgs, c.IDTokenAlg):
		return about{"id_token_alg"}.errorf("id_token_alg %s is unknown; expected one of: %s", c.IDTokenAlg, strings.Join(IDTokenAlgs, ", "))
	case !Subset(c.IDTokenClaims, IDTokenClaims):
		return about{"id_token_claims"}.errorf("id_token_claims: expected one or more of: %s", strings.Join(IDTokenClaims, ", "))
	case c.UserinfoContentType != "" && !slices.Contains(c.contentTypes(), c.UserinfoContentType):
		return about{"userinfo_content_type"}.errorf("userinfo_content_type %s is unknown; expected one of: %s", c.UserinfoContentType, strings.Join(c.contentTypes(), ", "))
	case c.RequireState != "" && !slices.Contains(StateRules, c.RequireState):
		return about{"require_state"}.errorf("require_state %s is unknown; expected one of: always, unless_pkce_or_nonce, never", c.RequireState)
	case c.RequireState == StateNever && !c.VariantB:
		return about{"require_state"}.errorf("require_state never is for variant_b clients only: expected always or unless_pkce_or_nonce")
	}
	return nil
}

func (c *Client) contentTypes() []string {
	if c.VariantB {
		return VariantBContentTypes
	}
	return UserinfoContentTypes
}

func (c *Client) checkAuthentication() error {
	secrets := len(c.SecretHashes) > 0
	switch {
	case c.Public && secrets:
		return about{"public", "secret"}.errorf("a public client has no secret: remove `public` or the secret")
	case c.Public && c.JWKS != "":
		return about{"public", "jwks"}.errorf("a public client does not authenticate: remove `public` or jwks")
	case !c.Public && !secrets && c.JWKS == "":
		return about{}.errorf("expected one of: secret, secret_hash, jwks, public")
	case c.AuthMethod == "":
		return nil
	case !slices.Contains(AuthMethods, c.AuthMethod):
		return about{"auth_method"}.errorf("auth_method %s is unknown; expected one of: %s", c.AuthMethod, strings.Join(AuthMethods, ", "))
	case c.Public:
		return about{"public", "auth_method"}.errorf("a public client sends no secret: remove `public` or auth_method")
	case c.AuthMethod == PrivateKeyJWT && c.JWKS == "":
		return about{"auth_method"}.errorf("auth_method private_key_jwt needs jwks, the client's public keys")
	case c.AuthMethod == PrivateKeyJWT && secrets:
		return about{"auth_method", "secret"}.errorf("auth_method private_key_jwt leaves the secret without a use: remove one of the two")
	case c.AuthMethod != PrivateKeyJWT && c.JWKS != "":
		return about{"auth_method", "jwks"}.errorf("auth_method %s leaves jwks without a use: remove one of the two", c.AuthMethod)
	}
	return nil
}

func (c *Client) checkGrants() error {
	for _, g := range c.Grants {
		_, ends := c.Until[g]
		switch {
		case slices.Contains(DeprecatedGrantTypes, g) && !ends:
			return about{"grants", "deprecated_grants"}.errorf("grant %s is deprecated: it needs a day on which it ends, with deprecated_grant", g)
		case !slices.Contains(GrantTypes, g) && !slices.Contains(DeprecatedGrantTypes, g):
			return about{"grants"}.errorf("grant %s is unknown; expected one of: %s", g, joinGrants(GrantTypes))
		case g == AuthorizationCode && len(c.RedirectURIs) == 0:
			return about{"redirect_uris"}.errorf("the authorization_code grant needs a redirect_uri")
		case g == ClientCredentials && c.Public:
			return about{"public"}.errorf("a public client has no credentials, so it cannot use client_credentials, the grant of clients that name none and have no redirect_uri; expected a redirect_uri, or a grant such as device_code")
		}
	}
	for g := range c.Until {
		switch {
		case !slices.Contains(DeprecatedGrantTypes, g):
			return about{"deprecated_grants"}.errorf("deprecated grant %s is unknown; expected one of: %s", g, joinGrants(DeprecatedGrantTypes))
		case g == Implicit && len(c.RedirectURIs) == 0:
			return about{"redirect_uris"}.errorf("the implicit grant needs a redirect_uri")
		case g == Password && c.Public:
			return about{"public"}.errorf("a public client cannot use the password grant: any program could pose as it and try passwords")
		}
	}
	return nil
}

func joinGrants(grants []GrantType) string {
	var names []string
	for _, g := range grants {
		names = append(names, string(g))
	}
	return strings.Join(names, ", ")
}
