package oauth

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// Client is an application known to the authorization server. It is read-only
// once built.
type Client struct {
	ID   string
	Name string // shown on the consent page; the ID when empty
	// SecretHashes are hex SHA-256 digests of the client's secrets; any of them
	// authenticates. None for a public client.
	SecretHashes []string
	// AuthMethod is the one way in which the client may send its secret, by its name in
	// RFC 7591 section 2 (client_secret_basic, client_secret_post); "" for either.
	AuthMethod string
	// Public clients keep no secret and must use PKCE (RFC 6749 section 2.1).
	Public bool
	// Native clients run on the user's device (RFC 8252).
	Native       bool
	RedirectURIs []string
	// Origins that may call the token endpoint from a browser, besides those of the
	// redirect addresses of a public client.
	Origins       []string
	Grants        []GrantType
	Scopes        []string
	DefaultScopes []string
	// Audience of its tokens; the server's default when empty.
	Audience []string
	// Trusted clients are one's own: no consent page.
	Trusted bool
	// Owner is who answers for the client, for the operator's lists.
	Owner string
	// JWKS is the client's public keys as a JWK set (RFC 7517 section 5), with which it
	// authenticates by private_key_jwt (RFC 7523); "" for none.
	JWKS string
	// PostLogoutRedirectURIs are where a browser may be sent after a sign-out that the
	// client began (OpenID Connect RP-Initiated Logout 1.0), compared exactly.
	PostLogoutRedirectURIs []string
	// Until says when the client's use of a deprecated grant type ends. Each is also in Grants.
	Until map[GrantType]time.Time
	// Introspect lets the client introspect access tokens of its Audience that others hold.
	Introspect bool
	// IntrospectByStatus answers the client's introspection requests by the status, for
	// gateways that read nothing else (nginx auth_request). It needs Introspect.
	IntrospectByStatus bool
	// IDTokenAlg signs its id_tokens: RS256 (the default when empty), ES256 or EdDSA.
	IDTokenAlg string
	// IDTokenClaims are the scopes whose claims its id_tokens hold too, where they are
	// granted; none by default.
	IDTokenClaims []string
	// UserinfoContentType is application/json (the default when empty) or
	// application/jwt for a signed answer (OpenID Connect Core section 5.3.2). For
	// VariantB it is auto (the default when empty), json or text.
	UserinfoContentType string
	// VariantB clients speak that dialect instead of OAuth: their id is the appid.
	VariantB bool
	// FrameOrigins may show the sign-in page of Variant B in a frame.
	FrameOrigins []string
	// RequireState says when its authorization requests must carry state; "" for what
	// [StateRuleOf] says.
	RequireState StateRule
	// SelfRegistered clients chose their name themselves (RFC 7591): people are told that
	// nobody has verified it.
	SelfRegistered bool
	// RegisteredAudience is what the tokens of clients that register themselves were for when
	// that was last configured. It counts while registration is closed.
	RegisteredAudience []string
	// Since is when the client was made, zero for one that is configured: what was granted
	// before was another client's of the same id.
	Since time.Time
}

// Title is what people are shown.
func (c *Client) Title() string {
	if c.Name != "" {
		return c.Name
	}
	return c.ID
}

// MayUse reports whether the client is configured for a grant type. Whether the end of
// a deprecated one has come is [Client.Ended]'s to say.
func (c *Client) MayUse(g GrantType) bool { return slices.Contains(c.Grants, g) }

// Ended reports whether the client's use of a deprecated grant type is over.
func (c *Client) Ended(g GrantType, now time.Time) bool {
	until, ok := c.Until[g]
	return ok && !now.Before(until)
}

// MatchesRedirect reports whether an address is one of the registered ones.
func (c *Client) MatchesRedirect(sent string) bool {
	return slices.ContainsFunc(c.RedirectURIs, func(r string) bool {
		return MatchRedirectURI(r, sent, c.Native)
	})
}

// RemembersConsent reports whether an answer on the consent page may be kept for this
// redirect address. Any program of the user's device can pose as the public client of a
// loopback or private-use address, and a remembered consent would hand it a code without
// anybody noticing, so there the person is asked anew (RFC 8252 section 8.6). Neither PKCE
// nor the same port helps: whoever sends the request chooses the challenge, and any program
// may listen on a port while the client does not run.
func (c *Client) RemembersConsent(redirectURI string) bool {
	return !c.Public || strings.HasPrefix(redirectURI, "https://")
}

// CORSOrigins lists the origins whose scripts may read token answers.
func (c *Client) CORSOrigins() []string {
	origins := slices.Clone(c.Origins)
	if c.Public {
		for _, r := range c.RedirectURIs {
			if u, err := url.Parse(r); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
				origins = append(origins, Origin(u))
			}
		}
	}
	slices.Sort(origins)
	return slices.Compact(origins)
}

// GrantableScopes decides what a request for scopes gives: the requested ones when the
// client may have each, its default ones when it asked for none.
func (c *Client) GrantableScopes(requested string) ([]string, error) {
	scopes, ok := ParseScopes(requested)
	if !ok {
		return nil, E(InvalidScope, "the scope parameter is malformed or too long")
	}
	if len(scopes) == 0 {
		if len(c.DefaultScopes) == 0 {
			return nil, E(InvalidScope, "scope is missing and this client has no default scopes")
		}
		return slices.Clone(c.DefaultScopes), nil
	}
	for _, s := range scopes {
		if !slices.Contains(c.Scopes, s) {
			return nil, E(InvalidScope, "scope "+s+" is unknown or not allowed for this client")
		}
	}
	return scopes, nil
}

// ActsForPeople reports whether the client may get tokens for a user, and not only its own:
// offline_access has no meaning for others.
func (c *Client) ActsForPeople() bool {
	return slices.ContainsFunc(c.Grants, func(g GrantType) bool { return g != ClientCredentials })
}
