package oauth

// GrantType is the grant_type of a token request.
type GrantType string

// The grant types.
const (
	AuthorizationCode GrantType = "authorization_code" // RFC 6749 4.1.3
	RefreshToken      GrantType = "refresh_token"      // RFC 6749 6
	ClientCredentials GrantType = "client_credentials" // RFC 6749 4.4
)

// GrantTypes lists those a client may be configured with.
var GrantTypes = []GrantType{AuthorizationCode, RefreshToken, ClientCredentials}
