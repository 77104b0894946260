package token

import (
	"context"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// ReadHint reads an id_token that this issuer made, expired or not (OpenID Connect RP-Initiated Logout 1.0 section
// 2). One whose key is retired is refused: nobody can tell it from a forgery any more. Refusals match [ErrInvalid];
// every other error is technical. The caller decides who may use the hint for what.
func (i *Issuer) ReadHint(ctx context.Context, raw string) (ID, error) {
	if len(raw) > maxIDSize {
		return ID{}, errSize
	}
	jws, ok := jose.Split(raw)
	if !ok {
		return ID{}, errForm
	}
	h, err := parseHeader(jws.Header)
	switch {
	case err != nil:
		return ID{}, err
	case h.Typ != idType:
		return ID{}, errNotID
	}
	key, _, err := verifySignature(ctx, i.Ring, h, jws)
	switch {
	case err != nil:
		return ID{}, err
	case i.Ring.Revoked(key):
		return ID{}, errKey
	}
	id, issuer, ok := parseID(jws.Payload)
	switch {
	case !ok:
		return ID{}, errClaims
	case issuer != i.Issuer:
		return ID{}, errIssuer
	case id.IssuedAt.After(i.Now().Add(jose.Leeway)):
		return ID{}, errEarly
	}
	return id, nil
}

// parseID reads the claims that IssueID writes. azp tells an id_token from a signed answer of /userinfo, which may
// have the same type.
func parseID(encoded string) (id ID, issuer string, ok bool) {
	c := jose.DecodeClaims(encoded)
	issuer = c.Text("iss")
	id = ID{
		Subject: c.Text("sub"), Client: c.Text("azp"), Nonce: c.OptionalText("nonce"), Session: c.OptionalText("sid"),
		IssuedAt: c.Date("iat"), Expires: c.Date("exp"), AuthTime: c.OptionalDate("auth_time"),
	}
	if c.Text("aud") != id.Client || !c.OK {
		return ID{}, "", false
	}
	return id, issuer, true
}
