package token

import (
	"slices"
	"strings"
	"time"
)

const (
	// maxAssertionAge bounds how far exp may be from iat and from now: the caller has to
	// remember each assertion for as long.
	maxAssertionAge = 5 * time.Minute
	// maxAssertionHeader bounds the encoded header: clients may write a kid and a
	// certificate's thumbprint of their own.
	maxAssertionHeader = 1 << 10
	// maxJTI bounds what the caller has to remember of one assertion.
	maxJTI = 256
)

// AssertionRules say what an assertion has to be.
type AssertionRules struct {
	// Client is the client_id: iss and sub (RFC 7523 section 3, points 1 and 2).
	Client string
	// Audience lists the names of this server; aud must contain one (point 3). The issuer
	// belongs here; several clients send the token endpoint's address instead.
	Audience []string
	// Now is the present.
	Now time.Time
}

// Assertion is an assertion that was verified. The caller must find out whether it was used before,
// and accept each ID of a client once until Expires.
type Assertion struct {
	ID string // jti, 1 to 256 bytes of the client's choice
	// Expires is the moment from which the assertion is refused for its age, the leeway
	// included.
	Expires time.Time
}

var (
	errNotAssertion = refusal("not a client assertion")
	errParty        = refusal("iss and sub are not the client")
	errAudience     = refusal("for another audience")
	errLasting      = refusal("valid for too long")
	errID           = refusal("jti is missing or too long")
)

// VerifyAssertion checks a client's assertion (private_key_jwt: RFC 7523 section 3,
// OpenID Connect Core section 9). Each error matches [ErrInvalid] and says no more than
// a fixed text. The algorithm must be one of the key's; nothing that the header names
// is fetched or believed.
func (c *ClientKeys) VerifyAssertion(raw string, want AssertionRules) (Assertion, error) {
	if len(raw) > maxSize {
		return Assertion{}, errSize
	}
	p, ok := splitJWS(raw)
	if !ok {
		return Assertion{}, errForm
	}
	h, err := assertionHeader(p.header)
	if err != nil {
		return Assertion{}, err
	}
	signature, err := b64.DecodeString(p.signature)
	if err != nil {
		return Assertion{}, errForm
	}
	if err := c.verifySignature(h, p.signed, signature); err != nil {
		return Assertion{}, err
	}
	return judgeAssertion(p.payload, want)
}

// assertionHeader accepts the members that clients write and that change nothing about
// how the rest is read; the thumbprints of certificates are not looked at.
func assertionHeader(encoded string) (h header, err error) {
	if len(encoded) > maxAssertionHeader {
		return h, errHeader
	}
	members, ok := decodeObject(encoded)
	if !ok {
		return h, errHeader
	}
	for name := range members {
		switch name {
		case "typ", "alg", "kid", "x5t", "x5t#S256":
		default:
			return h, errHeader
		}
	}
	r := claimReader{claims: members, good: true}
	h = header{typ: r.may("typ"), alg: r.must("alg"), kid: r.may("kid")}
	if !r.good {
		return h, errHeader
	}
	switch strings.TrimPrefix(strings.ToLower(h.typ), "application/") {
	case "", "jwt", "client-authentication+jwt":
		return h, nil
	}
	return h, errNotAssertion
}

// verifySignature tries the key that the kid names, else the keys without a kid. If the header has
// no kid, it tries all keys that fit the algorithm.
func (c *ClientKeys) verifySignature(h header, signed string, signature []byte) error {
	alg, ok := assertionMethods[h.alg]
	if !ok {
		return errAlgorithm
	}
	named := slices.ContainsFunc(c.keys, func(k clientKey) bool { return k.kid == h.kid })
	failed := errKey
	for _, k := range c.keys {
		if h.kid != "" && k.kid != h.kid && (named || k.kid != "") {
			continue
		}
		if k.kty != alg.kty || k.alg != "" && k.alg != h.alg {
			if failed == errKey {
				failed = errAlgorithm
			}
			continue
		}
		if alg.method.Verify(signed, signature, k.public) == nil {
			return nil
		}
		failed = errSignature
	}
	return failed
}

// judgeAssertion is behind the check of the signature.
func judgeAssertion(payload string, want AssertionRules) (Assertion, error) {
	m, ok := decodeObject(payload)
	if !ok {
		return Assertion{}, errClaims
	}
	r := claimReader{claims: m, good: true}
	issuer, subject, expires, issued := r.must("iss"), r.must("sub"), r.date("exp"), want.Now
	if m["iat"] != nil {
		issued = r.date("iat")
	}
	var notBefore time.Time
	if m["nbf"] != nil {
		notBefore = r.date("nbf")
	}
	to, ok := audience(m["aud"])
	if !ok || !r.good {
		return Assertion{}, errClaims
	}
	// Clocks differ, here on exp too: the client's own is what it was made by.
	end, id := expires.Add(Leeway), r.may("jti")
	early := want.Now.Add(Leeway)
	switch {
	case issuer != want.Client || subject != want.Client || want.Client == "":
		return Assertion{}, errParty
	case !slices.ContainsFunc(to, func(name string) bool { return name != "" && slices.Contains(want.Audience, name) }):
		return Assertion{}, errAudience
	case !want.Now.Before(end):
		return Assertion{}, ErrExpired
	case issued.After(early), notBefore.After(early):
		return Assertion{}, errEarly
	case expires.After(early.Add(maxAssertionAge)), expires.After(issued.Add(maxAssertionAge + Leeway)):
		return Assertion{}, errLasting
	case !r.good || id == "" || len(id) > maxJTI:
		return Assertion{}, errID
	}
	return Assertion{ID: id, Expires: end}, nil
}
