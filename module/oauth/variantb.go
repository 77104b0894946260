package oauth

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// The scopes of Variant B. They need no declaration, and only its clients may have them.
const (
	SNSLogin    = "snsapi_login"    // sign-in by scanning a code
	SNSUserinfo = "snsapi_userinfo" // sign-in in the same browser
	SNSBase     = "snsapi_base"     // the same without name and picture
)

// VariantBScopes lists the scopes of Variant B.
var VariantBScopes = []string{SNSLogin, SNSUserinfo, SNSBase}

// VariantBContentTypes are the forms of a userinfo response of Variant B: what the caller's library
// is known to need, application/json, or text/plain as the original provider sends it.
var VariantBContentTypes = []string{"auto", "json", "text"}

// checkVariantB reports settings that a client of Variant B cannot have, or that only it can have.
func (c *Client) checkVariantB() error {
	if !c.VariantB {
		if len(c.FrameOrigins) > 0 {
			return about{"frame_origins"}.errorf("frame_origins are of variant_b clients only: remove them")
		}
		return nil
	}
	if c.Public {
		return about{"variant_b", "public"}.errorf("a variant_b client cannot be public: it needs a secret")
	}
	for _, unused := range []struct {
		word, field string
		given       bool
	}{
		{"jwks", "jwks", c.JWKS != ""},
		{"auth_method", "auth_method", c.AuthMethod != ""},
		{"native", "native", c.Native},
		{"post_logout_redirect_uri", "post_logout_redirect_uris", len(c.PostLogoutRedirectURIs) > 0},
		{"origins", "origins", len(c.Origins) > 0},
		{"deprecated_grant", "deprecated_grants", len(c.Until) > 0},
		{"grants", "grants", len(c.RedirectURIs) > 0 && !slices.Equal(c.Grants, variantBGrants)},
		{"default_scopes", "default_scopes", len(c.DefaultScopes) > 0},
		{"introspect", "introspect", c.Introspect},
		{"id_token_alg", "id_token_alg", c.IDTokenAlg != ""}, {"id_token_claims", "id_token_claims", len(c.IDTokenClaims) > 0},
	} {
		if unused.given {
			return about{"variant_b", unused.field}.errorf("a variant_b client cannot have %s: remove it", unused.word)
		}
	}
	switch {
	case len(c.SecretHashes) == 0:
		return about{"variant_b"}.errorf("a variant_b client needs a secret or secret_hash")
	case len(c.RedirectURIs) == 0:
		return about{"redirect_uris", "variant_b"}.errorf("a variant_b client needs a redirect_uri")
	case !slices.ContainsFunc(c.Scopes, func(s string) bool { return slices.Contains(VariantBScopes, s) }):
		return about{"scopes", "variant_b"}.errorf("a variant_b client needs one or more of the scopes %s", strings.Join(VariantBScopes, ", "))
	}
	return nil
}

// variantBGrants are the grants of all clients of Variant B.
var variantBGrants = []GrantType{AuthorizationCode, RefreshToken}

// CheckScope reports why the client cannot have a scope, given the declared ones.
func (c *Client) CheckScope(s string, known []string) error {
	switch sns := slices.Contains(VariantBScopes, s); {
	case sns && !c.VariantB:
		return about{"scopes"}.errorf("scope %s is of variant_b clients only: remove it", s)
	case sns:
		return nil
	case c.VariantB && slices.Contains(BuiltinScopes, s):
		return about{"scopes"}.errorf("scope %s cannot be a variant_b client's, expected one of: %s", s, strings.Join(c.mayHave(known), ", "))
	case s == "" || !slices.Contains(known, s):
		return about{"scopes"}.errorf("scope %s is not declared, expected one of: %s", s, strings.Join(c.mayHave(known), ", "))
	}
	return nil
}

// mayHave lists the scopes that the client can have, given the declared ones.
func (c *Client) mayHave(known []string) []string {
	if !c.VariantB {
		return known
	}
	return append(slices.Clone(VariantBScopes), slices.DeleteFunc(slices.Clone(known), func(s string) bool {
		return slices.Contains(BuiltinScopes, s)
	})...)
}

// CheckFrameOrigin reports why an origin may not frame the sign-in page. It becomes part of a
// Content-Security-Policy, where a semicolon would begin another directive.
func CheckFrameOrigin(s string) error {
	if err := CheckOrigin(s); err != nil {
		return err
	}
	u, err := url.Parse(s)
	if err != nil || strings.Trim(strings.ToLower(u.Host), "abcdefghijklmnopqrstuvwxyz0123456789-.:[]") != "" {
		return errors.New("must have a host of letters, digits, hyphens and dots: write a name of other letters in its xn-- form")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !Loopback(u.Hostname())) {
		return errors.New("must be https; http is for loopback addresses only")
	}
	return nil
}
