package adminapi

import "time"

// TokenInspection is what the running gateway knows about an access token.
type TokenInspection struct {
	// Genuine says that a key of this gateway signed the token. Otherwise Token may be forged.
	Genuine bool `json:"genuine"`
	// Refusal is the check that the token fails at every guard, "" for a token that is alive.
	Refusal string `json:"refusal,omitempty"`
	// Now is the clock of the gateway.
	Now time.Time `json:"now"`
	// Token is the content, absent for a string that is no JWT.
	Token *TokenContent `json:"token,omitempty"`
}

// TokenContent are the claims and header of an access token. Missing times are zero.
type TokenContent struct {
	Type      string    `json:"typ"`
	Alg       string    `json:"alg"`
	KeyID     string    `json:"kid"`
	ID        string    `json:"jti"`
	Issuer    string    `json:"iss"`
	Subject   string    `json:"sub"`
	Client    string    `json:"client_id"`
	Audience  []string  `json:"aud"`
	Scopes    []string  `json:"scopes"`
	IssuedAt  time.Time `json:"issued_at,omitzero"`
	NotBefore time.Time `json:"not_before,omitzero"`
	Expires   time.Time `json:"expires_at,omitzero"`
}
