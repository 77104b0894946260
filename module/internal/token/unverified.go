package token

import (
	"strings"
	"time"
)

// Unverified is what a string says of itself in the form of an access token. Anybody can write
// such a string: it helps an operator to see what a client sent, and nothing may be decided by
// it. Absent and malformed members are zero.
type Unverified struct {
	Type, Alg, KeyID            string // of the header
	Issuer, Subject, Client, ID string
	Audience, Scopes            []string
	IssuedAt, NotBefore         time.Time
	Expires                     time.Time
}

// ReadUnverified decodes a JWS without a look at its signature. ok is false for what is none.
func ReadUnverified(raw string) (u Unverified, ok bool) {
	if len(raw) > maxSize {
		return u, false
	}
	p, ok := splitJWS(raw)
	if !ok {
		return u, false
	}
	header, okHeader := decodeObject(p.header)
	claims, okClaims := decodeObject(p.payload)
	if !okHeader || !okClaims {
		return u, false
	}
	h, c := claimReader{claims: header}, claimReader{claims: claims}
	u.Type, u.Alg, u.KeyID = h.may("typ"), h.may("alg"), h.may("kid")
	u.Issuer, u.Subject, u.Client, u.ID = c.may("iss"), c.may("sub"), c.may("client_id"), c.may("jti")
	u.Scopes = strings.Fields(c.may("scope"))
	u.Audience, _ = audience(claims["aud"])
	u.IssuedAt, u.NotBefore, u.Expires = c.date("iat"), c.date("nbf"), c.date("exp")
	return u, true
}
