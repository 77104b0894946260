package store

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// CodeState is where an authorization code stands. Expiry is the record's own.
type CodeState string

// A code is issued, claimed by one exchange, and used when that exchange has recorded that it answers with tokens.
// Only an exchange that failed gives its claim back. Until it is used a code can be revoked.
const (
	CodeIssued CodeState = "issued"
	// CodeClaimed: tokens may have been delivered for the code, or may not. The exchange named by Attempt knows.
	CodeClaimed CodeState = "claimed"
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

// Code is an authorization code (RFC 6749 section 4.1.2), stored under the digest of its value. Its record stays until
// nothing can ask for the same code again. The grant that it begins is named by [GrantOf] and has what it takes to
// recognise a replay, and revoke all that the code issued, for as long as that can live.
//
// Earlier releases gave the grant a random name and the code its subject as parent. The record of such a code stays as
// long as the grant.
type Code struct {
	schema
	State   CodeState `json:"state"`
	Dialect Dialect   `json:"dialect"`
	Client  string    `json:"client,omitempty"`
	Subject string    `json:"sub,omitempty"`
	Scopes  []string  `json:"scopes,omitempty"`
	// RedirectURI is what the authorization request sent, "" when it sent none.
	RedirectURI string `json:"redirect_uri,omitempty"`
	// Challenge is the S256 code challenge (RFC 7636), "" when there was none.
	Challenge string    `json:"challenge,omitempty"`
	Nonce     string    `json:"nonce,omitempty"`
	AuthTime  time.Time `json:"auth_time,omitzero"`
	IssuedAt  time.Time `json:"iat,omitzero"`
	// Expires ends the code's life as a code; the record outlives it. It is zero while nobody has been given the
	// code: that of a request confirmed on another device lives from its delivery.
	Expires time.Time `json:"exp,omitzero"`
	// Session is the digest of the browser session that consented.
	Session string `json:"session,omitempty"`
	// Resources are the audiences asked for (RFC 8707), empty for the client's default.
	Resources []string `json:"resources,omitempty"`
	// Epochs are those the code was issued under; the grant it begins inherits them.
	Epochs Epochs `json:"epochs,omitzero"`
	// Grant is the family this code begins: that of [GrantOf], or one of an earlier release.
	Grant string `json:"grant"`
	// Attempt names the exchange that claimed or used the code, so that a node which lost
	// the store's reply recognizes its own write.
	Attempt string `json:"attempt,omitempty"`
	// Bound is what a used code keeps of RedirectURI and Challenge: a short digest of each, by which the client that
	// redeemed the code is told from somebody who has only seen it.
	Bound string `json:"bound,omitempty"`
}

// boundDigits is the length of each half of Bound: 48 bits, of which nobody can try many.
const boundDigits = 12

// Claim gives an issued code to one exchange. ok is false when the code is not free.
func (c Code) Claim(attempt string) (_ Code, ok bool) {
	if c.State != CodeIssued {
		return c, false
	}
	c.State, c.Attempt = CodeClaimed, attempt
	return c, true
}

// ClaimedBy reports whether the exchange holds the code.
func (c Code) ClaimedBy(attempt string) bool {
	return c.State == CodeClaimed && attempt != "" && c.Attempt == attempt
}

// Use records that the exchange which claimed the code answers with tokens, and drops what is in the grant. ok is false
// when that exchange does not hold the code.
func (c Code) Use(attempt string) (_ Code, ok bool) {
	if !c.ClaimedBy(attempt) {
		return c, false
	}
	return Code{State: CodeUsed, Dialect: c.Dialect, Grant: c.Grant, Epochs: c.Epochs, Bound: c.Binding()}, true
}

// Binding returns the field Bound for the code: a digest of what ties it to the client that redeems it.
func (c Code) Binding() string {
	return digest(c.RedirectURI)[:boundDigits] + digest(c.Challenge)[:boundDigits]
}

// GrantOf names the grant that a code begins, by the dialect and the ID of the code. So a used code is recognized by its
// grant alone, and needs no record of its own.
func GrantOf(d Dialect, code string) string {
	sum := sha256.Sum256([]byte("grant of a code\x00" + string(d) + "\x00" + code))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Trimmed reports whether the rest of a used code is in its grant. Earlier releases kept used codes whole.
func (c Code) Trimmed() bool { return c.State == CodeUsed && len(c.Bound) == 2*boundDigits }

// unknown stands for a redirect URI or challenge of a trimmed code that is not the one that was sent.
const unknown = "unknown"

// Restore returns a trimmed code as it was, from its grant and what was sent with it: the redirect URI and the
// challenge are right if those that were sent are.
func (c Code) Restore(g Grant, redirectURI, verifier string) Code {
	same := func(half, sent string) string {
		switch half {
		case digest("")[:boundDigits]:
			return ""
		case digest(sent)[:boundDigits]:
			return sent
		}
		return unknown
	}
	c.Client, c.Subject, c.Scopes, c.IssuedAt, c.Epochs = g.Client, g.Subject, g.Scopes, g.IssuedAt, g.Epochs
	c.RedirectURI = same(c.Bound[:boundDigits], redirectURI)
	c.Challenge = same(c.Bound[boundDigits:], oauth.Challenge(verifier))
	return c
}

// Release gives a claimed code back because its exchange failed. ok is false when that
// exchange does not hold the code.
func (c Code) Release(attempt string) (_ Code, ok bool) {
	if !c.ClaimedBy(attempt) {
		return c, false
	}
	c.State, c.Attempt = CodeIssued, ""
	return c, true
}

// Deliver begins the life of a code that nobody has been given. ok is false when there is nothing to begin.
func (c Code) Deliver(expires time.Time) (_ Code, ok bool) {
	if c.State != CodeIssued || !c.Expires.IsZero() {
		return c, false
	}
	c.Expires = expires
	return c, true
}

// Revoke takes back a code that is not used. An exchange that has claimed it finds out when it records the use, and
// ends what it began. ok is false when there is nothing to take back.
func (c Code) Revoke() (_ Code, ok bool) {
	if c.State != CodeIssued && c.State != CodeClaimed {
		return c, false
	}
	c.State = CodeRevoked
	return c, true
}
