package token

import (
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// Unverified is what a string claims in the form of an access token. Anybody can write such a string: it shows an
// operator what a client sent, and nothing may be decided by it. Absent and malformed members are zero.
type Unverified struct {
	Type, Alg, KeyID            string // of the header
	Issuer, Subject, Client, ID string
	Audience, Scopes            []string
	IssuedAt, NotBefore         time.Time
	Expires                     time.Time
}

// ReadUnverified decodes a JWS without verifying its signature. ok is false if the string is none.
func ReadUnverified(raw string) (u Unverified, ok bool) {
	jws, ok := jose.Split(raw)
	if !ok || len(raw) > maxSize {
		return u, false
	}
	h, c := jose.DecodeClaims(jws.Header), jose.DecodeClaims(jws.Payload)
	if !h.OK || !c.OK {
		return u, false
	}
	u.Type, u.Alg, u.KeyID = h.OptionalText("typ"), h.OptionalText("alg"), h.OptionalText("kid")
	u.Issuer, u.Subject, u.Client, u.ID = c.OptionalText("iss"), c.OptionalText("sub"), c.OptionalText("client_id"), c.OptionalText("jti")
	u.Scopes = strings.Fields(c.OptionalText("scope"))
	u.Audience = c.Audience()
	u.IssuedAt, u.NotBefore, u.Expires = c.Date("iat"), c.Date("nbf"), c.Date("exp")
	return u, true
}
