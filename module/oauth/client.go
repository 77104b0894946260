package oauth

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Client is an application known to the authorization server. It is read-only once built.
//
// The fields with a JSON name are the settings of a client. This is their only list: the
// configuration, the admin API and the records of the store embed it.
type Client struct {
	// The client_id. The client_id, unique among all clients. Required.
	ID string `json:"id"`
	// What people are shown. Default: the id.
	Name string `json:"name,omitempty"`
	// Who answers for the client, for the operator's lists. `variant_b` clients of one owner see the same `unionid`
	// of a user; those of others, and those without an owner, each another.
	Owner string `json:"owner,omitempty"`
	// The client's public keys as a JWK set (RFC 7517 section 5), with which it authenticates by `private_key_jwt`
	// (RFC 7523). In a configuration it may also be the path of a file that holds one, read when the configuration is
	// loaded; placeholders are resolved, except in an inline set. Default: none.
	JWKS string `json:"jwks,omitempty"`
	// The one way in which the client may authenticate: `client_secret_basic`, `client_secret_post` or
	// `private_key_jwt`. Default: any for which it has a secret or keys.
	AuthMethod string `json:"auth_method,omitempty"`
	// A client that cannot keep a secret; it must use PKCE (RFC 6749 section 2.1).
	Public bool `json:"public,omitempty"`
	// A program on the user's device: a registered loopback address (127.0.0.1, [::1] or
	// localhost) matches with any port, and private-use schemes are allowed (RFC 8252).
	Native bool `json:"native,omitempty"`
	// Where codes may be sent, compared exactly. Required for grants that redirect; default: none.
	RedirectURIs []string `json:"redirect_uris,omitempty"`
	// Where a browser may be sent after a sign-out that the client began (OpenID Connect
	// RP-Initiated Logout 1.0), compared exactly. Default: none.
	PostLogoutRedirectURIs []string `json:"post_logout_redirect_uris,omitempty"`
	// Browser origins that may call the token endpoint, as browsers send them, besides those
	// of the redirect addresses of a public client. Default: none.
	Origins []string `json:"origins,omitempty"`
	// Grant types: `authorization_code`, `refresh_token`, `client_credentials` and
	// `urn:ietf:params:oauth:grant-type:device_code`, for short `device_code` (RFC 8628). Default: the first two when
	// there is a redirect address, else the last, unless the client has a deprecated grant.
	Grants []GrantType `json:"grants,omitempty"`
	// Scopes it may ask for. Default: none.
	Scopes []string `json:"scopes,omitempty"`
	// Scopes it gets when it asks for none. Default: none, and asking is required.
	DefaultScopes []string `json:"default_scopes,omitempty"`
	// The audience of its tokens. Default: that of `tokens`.
	Audience []string `json:"audience,omitempty"`
	// One's own application: no consent page.
	Trusted bool `json:"trusted,omitempty"`
	// Lets the client introspect access tokens for its audience that others hold, besides its own.
	Introspect bool `json:"introspect,omitempty"`
	// Answers the client's introspection requests by the HTTP status, for gateways that ask about each request and
	// read nothing else, such as nginx with `auth_request`: 200 with the headers `X-Auth-Subject`, `X-Auth-Client`
	// and `X-Auth-Scopes` for an access token for the client's audience, 403 when it lacks one of the scopes in the
	// request's parameter `scope`, 401 for everything else that is no such token. Needs `introspect`. Default: 200
	// and JSON, as RFC 7662 says.
	IntrospectByStatus bool `json:"introspect_by_status,omitempty"`
	// The signature algorithm of its id_tokens: `RS256` (the default), `ES256` or `EdDSA`.
	IDTokenAlg string `json:"id_token_alg,omitempty"`
	// Scopes whose claims its id_tokens hold too, where the user granted them: `profile`,
	// `email`, `phone`, `address`. For clients that never call userinfo. Default: none.
	IDTokenClaims []string `json:"id_token_claims,omitempty"`
	// The form of its userinfo answers: `application/json` (the default), or `application/jwt` for a signed one
	// (OpenID Connect Core section 5.3.2). Of a `variant_b` client: `auto` (the default), JSON for everybody but
	// sign-in libraries that name themselves and are known to need `text/plain` (python-social-auth with
	// SEND_USER_AGENT), or always `json` or `text`.
	UserinfoContentType string `json:"userinfo_content_type,omitempty"`
	// The client speaks Variant B, the provider side of what libraries for WeChat speak,
	// and no OAuth: its id is the appid. It needs a secret, a redirect address and one or
	// more of the scopes `snsapi_login`, `snsapi_userinfo` and `snsapi_base`.
	VariantB bool `json:"variant_b,omitempty"`
	// When the client's authorization requests must carry `state`: `always`; `unless_pkce_or_nonce`, where a request
	// with an S256 code_challenge, or with a nonce and scope openid, may come without; or, for `variant_b` clients
	// only, `never`, which leaves it to the site to stop forged sign-ins. Default: that of `gatehouse`.
	RequireState StateRule `json:"require_state,omitempty"`
	// Origins whose pages may show the code to scan in a frame, for `variant_b`. Default: none.
	FrameOrigins []string `json:"frame_origins,omitempty"`

	// SecretHashes are hex SHA-256 digests of the client's secrets; any of them
	// authenticates. None for a public client.
	SecretHashes []string `json:"-"`
	// Until says when the client's use of a deprecated grant type ends. Each is also in Grants.
	Until map[GrantType]time.Time `json:"-"`
	// SelfRegistered clients chose their name themselves (RFC 7591): people are told that nobody has verified it.
	SelfRegistered bool `json:"-"`
	// RegisteredAudience is the audience for tokens of clients that register themselves, as
	// last configured. It applies while registration is closed.
	RegisteredAudience []string `json:"-"`
	// Since is when the client was created, zero for a configured one: what was granted before
	// belongs to another client of the same id.
	Since time.Time `json:"-"`
}

// Resolve turns settings as people write them into those that the server works with: it adds
// the grant types of a client that names none, the days (YYYY-MM-DD) on which deprecated ones
// end, and replaces short and former names. Its error is a [*FieldError]; Check reports the rest.
func (c *Client) Resolve(deprecated map[string]string) error {
	c.RequireState, _ = NamedStateRule(string(c.RequireState))
	c.Until = nil
	for g, day := range deprecated {
		end, err := ParseEnd(day)
		if err != nil {
			return about{"deprecated_grants"}.errorf("deprecated grant %s: %w", g, err)
		}
		if c.Until == nil {
			c.Until = make(map[GrantType]time.Time)
		}
		c.Until[GrantType(g)] = end
	}
	var grants []GrantType
	for _, g := range c.Grants {
		grants = append(grants, NamedGrant(string(g)))
	}
	switch {
	case len(grants) > 0:
	case len(c.RedirectURIs) > 0:
		grants = []GrantType{AuthorizationCode, RefreshToken}
	case len(c.Until) == 0:
		grants = []GrantType{ClientCredentials}
	}
	for _, g := range DeprecatedGrantTypes {
		if _, ok := c.Until[g]; ok && !slices.Contains(grants, g) {
			grants = append(grants, g)
		}
	}
	c.Grants = grants
	return nil
}

// Title is the name that people are shown.
func (c *Client) Title() string { return cmp.Or(c.Name, c.ID) }

// MayUse reports whether the client is configured for a grant type. [Client.Ended] reports whether
// a deprecated one has ended.
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

// RemembersConsent reports whether consent may be remembered for this redirect address. Any
// program on the user's device can pose as the public client of a loopback or private-use address,
// and with a remembered consent would silently get a code, so there the user is asked each time
// (RFC 8252 section 8.6). Neither PKCE nor the same port helps: the sender of the request chooses
// the challenge, and any program may listen on the port while the client does not run.
func (c *Client) RemembersConsent(redirectURI string) bool {
	return !c.Public || strings.HasPrefix(redirectURI, "https://")
}

// CORSOrigins lists the origins whose scripts may read token responses.
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

// GrantableScopes returns the requested scopes if the client may have each of them, and its default
// ones if it requested none.
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

// ActsForPeople reports whether the client may get tokens for users, and not only for itself.
// offline_access has no meaning for other clients.
func (c *Client) ActsForPeople() bool {
	return slices.ContainsFunc(c.Grants, func(g GrantType) bool { return g != ClientCredentials })
}
