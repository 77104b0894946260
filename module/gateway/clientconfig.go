package gateway

// Client is an application that may ask for tokens.
type Client struct {
	// The client_id.
	ID string `json:"id"`
	// What people are shown. Default: the id.
	Name string `json:"name,omitempty"`
	// Who answers for the client, for the operator's lists. `variant_b` clients of one
	// owner see the same `unionid` of a user; those of others, and those without an
	// owner, each another.
	Owner string `json:"owner,omitempty"`
	// Secrets, at least 32 characters each, any of which authenticates. Best given as
	// placeholders such as `{env.READER_SECRET}`, resolved when the configuration is
	// loaded.
	Secrets []string `json:"secrets,omitempty"`
	// Secrets as `sha256:` and 64 hexadecimal digits. The Caddyfile adapter puts
	// literal secrets here.
	SecretHashes []string `json:"secret_hashes,omitempty"`
	// The client's public keys as a JWK set (RFC 7517 section 5), or the path of a file
	// that holds one, read when the configuration is loaded; placeholders are resolved,
	// except in an inline set. The client then authenticates by `private_key_jwt` (RFC 7523).
	JWKS string `json:"jwks,omitempty"`
	// The one way in which the client may authenticate: `client_secret_basic`,
	// `client_secret_post` or `private_key_jwt`. Default: any for which it has a secret or
	// keys.
	AuthMethod string `json:"auth_method,omitempty"`
	// A client that cannot keep a secret; it must use PKCE.
	Public bool `json:"public,omitempty"`
	// A program on the user's device: a registered loopback address (127.0.0.1, [::1] or
	// localhost) matches with any port, and private-use schemes are allowed (RFC 8252).
	Native bool `json:"native,omitempty"`
	// Where codes may be sent, compared exactly.
	RedirectURIs []string `json:"redirect_uris,omitempty"`
	// Where a browser may be sent after a sign-out that the client began, compared exactly.
	PostLogoutRedirectURIs []string `json:"post_logout_redirect_uris,omitempty"`
	// Further browser origins that may call the token endpoint, as browsers send them.
	Origins []string `json:"origins,omitempty"`
	// Grant types: `authorization_code`, `refresh_token`, `client_credentials` and
	// `urn:ietf:params:oauth:grant-type:device_code`, for short `device_code` (RFC 8628).
	// Default: the first two when there is a redirect address, else the last, unless the
	// client has a deprecated grant.
	Grants []string `json:"grants,omitempty"`
	// Grant types of the past, `implicit` and `password`, each with the day on which it
	// ends as `YYYY-MM-DD`: from 00:00 UTC of that day it is refused. RFC 9700 section 2
	// says not to use them; there is a warning at every load. Answers for `password` carry
	// the headers Deprecation and Sunset; those of a redirect would reach no application.
	DeprecatedGrants map[string]string `json:"deprecated_grants,omitempty"`
	// Scopes it may ask for.
	Scopes []string `json:"scopes,omitempty"`
	// Scopes it gets when it asks for none. Default: none, and asking is required.
	DefaultScopes []string `json:"default_scopes,omitempty"`
	// The audience of its tokens. Default: that of `tokens`.
	Audience []string `json:"audience,omitempty"`
	// One's own application: no consent page.
	Trusted bool `json:"trusted,omitempty"`
	// Lets the client introspect access tokens for its audience that others hold, besides
	// its own.
	Introspect bool `json:"introspect,omitempty"`
	// Answers the client's introspection requests by the HTTP status, for gateways that ask
	// about each request and read nothing else, such as nginx with `auth_request`: 200 with the
	// headers `X-Auth-Subject`, `X-Auth-Client` and `X-Auth-Scopes` for an access token for the
	// client's audience, 403 when it lacks one of the scopes in the request's parameter `scope`,
	// 401 for everything else that is no such token. Needs `introspect`. Default: 200 and JSON,
	// as RFC 7662 says.
	IntrospectByStatus bool `json:"introspect_by_status,omitempty"`
	// The signature algorithm of its id_tokens: `RS256` (the default), `ES256` or `EdDSA`.
	IDTokenAlg string `json:"id_token_alg,omitempty"`
	// Scopes whose claims its id_tokens hold too, where the user granted them: `profile`,
	// `email`, `phone`, `address`. For clients that never call userinfo. Default: none.
	IDTokenClaims []string `json:"id_token_claims,omitempty"`
	// The form of its userinfo answers: `application/json` (the default), or
	// `application/jwt` for a signed one. Of a `variant_b` client: `auto` (the default),
	// JSON for everybody but sign-in libraries that name themselves and are known to need
	// `text/plain` (python-social-auth with SEND_USER_AGENT), or always `json` or `text`.
	UserinfoContentType string `json:"userinfo_content_type,omitempty"`
	// The client speaks Variant B, the provider side of what libraries for WeChat speak,
	// and no OAuth: its id is the appid. It needs a secret, a redirect address and one or
	// more of the scopes `snsapi_login`, `snsapi_userinfo` and `snsapi_base`.
	VariantB bool `json:"variant_b,omitempty"`
	// When the client's authorization requests must carry `state`: `always`;
	// `unless_pkce_or_nonce`, where a request with an S256 code_challenge, or with a nonce
	// and scope openid, may come without; or, for `variant_b` clients only, `never`, which
	// leaves it to the site to stop forged sign-ins. Default: that of `gatehouse`.
	RequireState string `json:"require_state,omitempty"`
	// Origins whose pages may show the code to scan in a frame, for `variant_b`. Default: none.
	FrameOrigins []string `json:"frame_origins,omitempty"`
}
