package store

import "time"

// CodeState is where an authorization code stands. Expiry is the record's own.
type CodeState string

// A code is issued once and used once, or taken back before.
const (
	CodeIssued  CodeState = "issued"
	CodeUsed    CodeState = "used"
	CodeRevoked CodeState = "revoked"
)

// Dialect tells OAuth and Variant B apart: what one issued is nothing at the other.
type Dialect string

// The dialects.
const (
	DialectOAuth    Dialect = "oauth"
	DialectVariantB Dialect = "variantb"
	// DialectDevice is that of device codes (RFC 8628): what they begin is of DialectOAuth.
	DialectDevice Dialect = "device"
)

// Code is an authorization code (RFC 6749 section 4.1.2), stored under the digest
// of its value with the subject as parent. A used code stays as long as anything it issued can live, so that
// a replay is recognised and revokes it.
type Code struct {
	schema
	State   CodeState `json:"state"`
	Dialect Dialect   `json:"dialect"`
	Client  string    `json:"client"`
	Subject string    `json:"sub"`
	Scopes  []string  `json:"scopes"`
	// RedirectURI is what the authorization request sent, "" when it sent none.
	RedirectURI string `json:"redirect_uri,omitempty"`
	// Challenge is the S256 code challenge (RFC 7636), "" when there was none.
	Challenge string    `json:"challenge,omitempty"`
	Nonce     string    `json:"nonce,omitempty"`
	AuthTime  time.Time `json:"auth_time"`
	IssuedAt  time.Time `json:"iat"`
	// Expires ends the code's life as a code; the record outlives it. It is zero while
	// nobody has been given the code: that of a request confirmed on another device lives
	// from its delivery.
	Expires time.Time `json:"exp"`
	// Session is the digest of the browser session that consented.
	Session string `json:"session,omitempty"`
	// Resources are the audiences asked for (RFC 8707), empty for the client's default.
	Resources []string `json:"resources,omitempty"`
	// Grant is the family this code begins. It is fixed when the code is made.
	Grant string `json:"grant"`
	// Attempt names the redemption that won, so that a node which lost the
	// store's reply knows its own.
	Attempt string `json:"attempt,omitempty"`
}

// Redeem moves the code to used. ok is false when it is used already.
func (c Code) Redeem(attempt string) (_ Code, ok bool) {
	if c.State != CodeIssued {
		return c, false
	}
	c.State, c.Attempt = CodeUsed, attempt
	return c, true
}

// Deliver begins the life of a code that nobody has been given. ok is false when there is
// nothing to begin.
func (c Code) Deliver(expires time.Time) (_ Code, ok bool) {
	if c.State != CodeIssued || !c.Expires.IsZero() {
		return c, false
	}
	c.Expires = expires
	return c, true
}

// Revoke takes back a code that nobody has redeemed. ok is false when there is nothing
// to take back.
func (c Code) Revoke() (_ Code, ok bool) {
	if c.State != CodeIssued {
		return c, false
	}
	c.State = CodeRevoked
	return c, true
}
