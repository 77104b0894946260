package token

import "time"

// ID is the content of an id_token (OpenID Connect Core section 2).
type ID struct {
	Subject string // sub
	Client  string // aud, and azp
	Nonce   string
	// Session names the browser session (sid), "" for none.
	Session  string
	AuthTime time.Time // whole seconds; zero for none
	// AccessToken is the one issued beside it, from which at_hash is made; "" for none.
	AccessToken string
	IssuedAt    time.Time // whole seconds
	Expires     time.Time // whole seconds
	// Claims are further ones about the user. They cannot replace those above, present
	// or absent. Not filled in by [Issuer.ReadHint].
	Claims map[string]any
}
