package token

import "context"

var errNotID = refusal("not an id_token")

// ReadHint reads an id_token that this issuer made, expired or not (OpenID Connect
// RP-Initiated Logout 1.0 section 2). One whose key is retired is refused: nobody can
// tell it from a forgery any more. Refusals match [ErrInvalid]; every other error is
// technical. Who may use the hint for what is the caller's to decide.
func (i *Issuer) ReadHint(ctx context.Context, raw string) (ID, error) {
	if len(raw) > maxIDSize {
		return ID{}, errSize
	}
	p, ok := splitJWS(raw)
	if !ok {
		return ID{}, errForm
	}
	h, err := ownHeader(p.header)
	switch {
	case err != nil:
		return ID{}, err
	case h.typ != idType:
		return ID{}, errNotID
	}
	key, err := i.ring.lookup(ctx, h.kid)
	switch {
	case err != nil:
		return ID{}, err
	case key == nil || i.ring.gone(key):
		return ID{}, errKey
	case h.alg != key.Alg:
		return ID{}, errAlgorithm
	}
	signature, err := b64.DecodeString(p.signature)
	if err != nil {
		return ID{}, errForm
	}
	if key.algorithm.method.Verify(p.signed, signature, key.public) != nil {
		return ID{}, errSignature
	}
	id, issuer, ok := parseID(p.payload)
	switch {
	case !ok:
		return ID{}, errClaims
	case issuer != i.issuer:
		return ID{}, errIssuer
	case id.IssuedAt.After(i.now().Add(Leeway)):
		return ID{}, errEarly
	}
	return id, nil
}

// parseID reads the claims that IssueID writes. azp tells an id_token from a signed
// answer of /userinfo, which may have the same type.
func parseID(encoded string) (id ID, issuer string, ok bool) {
	m, ok := decodeObject(encoded)
	if !ok {
		return ID{}, "", false
	}
	r := claimReader{claims: m, good: true}
	issuer = r.must("iss")
	id = ID{
		Subject: r.must("sub"), Client: r.must("azp"), Nonce: r.may("nonce"), Session: r.may("sid"),
		IssuedAt: r.date("iat"), Expires: r.date("exp"),
	}
	if m["auth_time"] != nil {
		id.AuthTime = r.date("auth_time")
	}
	if r.must("aud") != id.Client || !r.good {
		return ID{}, "", false
	}
	return id, issuer, true
}
