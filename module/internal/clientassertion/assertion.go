package clientassertion

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

const (
	maxSize = 8 << 10 // bytes
	// maxAge bounds how far exp may be from iat and from now: the caller has to remember each assertion for as long.
	maxAge = 5 * time.Minute
	// maxHeader bounds the encoded header: clients may write a kid and a certificate's thumbprint of their own.
	maxHeader = 1 << 10
	// maxJTI bounds what the caller has to remember of one assertion.
	maxJTI = 256
)

// Rules say what an assertion has to be.
type Rules struct {
	// Client is the client_id: iss and sub (RFC 7523 section 3, points 1 and 2).
	Client string
	// Audience lists the names of this server; aud must contain one (point 3), such as the issuer.
	Audience []string
	// Beside lists what aud may contain besides, such as the endpoints that some clients list after the issuer.
	// Whatever else it contained could send the assertion here in the client's name.
	Beside []string
	Now    time.Time
}

// isAudience reports whether an assertion is for this server and for nobody else.
func (r Rules) isAudience(audience []string) bool {
	named := false
	for _, name := range audience {
		switch {
		case slices.Contains(r.Audience, name):
			named = true
		case !slices.Contains(r.Beside, name):
			return false
		}
	}
	return named
}

// Assertion is an assertion that was verified. The caller must accept each ID of a client only once until Expires.
type Assertion struct {
	ID      string    // jti, 1 to 256 bytes of the client's choice
	Expires time.Time // when the assertion is refused for its age, the leeway included
}

// ErrInvalid matches every error of [Keys.Verify]. Their texts are fixed, so that nothing of an assertion reaches a
// log.
var ErrInvalid = errors.New("clientassertion: invalid")

// ErrExpired and ErrEarly refuse assertions that are signed by the client, and wrong in nothing but their time.
var (
	ErrExpired = invalid("expired")
	ErrEarly   = invalid("not valid yet")
)

var (
	errForm      = invalid("too long, or not a JWS of three parts")
	errHeader    = invalid("malformed header")
	errType      = invalid("not a client assertion")
	errAlgorithm = invalid("algorithm does not fit the key")
	errKey       = invalid("unknown key")
	errSignature = invalid("bad signature")
	errClaims    = invalid("malformed claims")
	errParty     = invalid("iss and sub are not the client")
	errAudience  = invalid("for another audience")
	errLifetime  = invalid("valid for too long")
	errID        = invalid("jti is missing or too long")
)

func invalid(reason string) error { return fmt.Errorf("%w: %s", ErrInvalid, reason) }

// Verify checks a client's assertion. Errors match [ErrInvalid]. The algorithm must be one of the key's; nothing that
// the header names is fetched or believed.
func (k *Keys) Verify(raw string, want Rules) (Assertion, error) {
	if len(raw) > maxSize {
		return Assertion{}, errForm
	}
	jws, ok := jose.Split(raw)
	if !ok {
		return Assertion{}, errForm
	}
	alg, kid, err := readHeader(jws.Header)
	if err != nil {
		return Assertion{}, err
	}
	signature, err := jose.Base64.DecodeString(jws.Signature)
	if err != nil {
		return Assertion{}, errForm
	}
	if err := k.verifySignature(alg, kid, jws.Signed, signature); err != nil {
		return Assertion{}, err
	}
	return checkClaims(jws.Payload, want)
}

// readHeader accepts the members that clients write and that change nothing about how the rest is read. The
// thumbprints of certificates are ignored.
func readHeader(encoded string) (alg, kid string, err error) {
	h := jose.DecodeClaims(encoded)
	if !h.Only("typ", "alg", "kid", "x5t", "x5t#S256") {
		return "", "", errHeader
	}
	typ := h.OptionalText("typ")
	alg, kid = h.Text("alg"), h.OptionalText("kid")
	if !h.OK || len(encoded) > maxHeader {
		return "", "", errHeader
	}
	switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
	case "", "jwt", "client-authentication+jwt":
		return alg, kid, nil
	}
	return "", "", errType
}

// verifySignature tries the key that kid names, else the keys without a kid. If the header has no kid, it tries all
// keys that fit the algorithm.
func (k *Keys) verifySignature(alg, kid, signed string, signature []byte) error {
	method, ok := methods[alg]
	if !ok {
		return errAlgorithm
	}
	named := slices.ContainsFunc(k.keys, func(k key) bool { return k.kid == kid })
	failed := errKey
	for _, k := range k.keys {
		if kid != "" && k.kid != kid && (named || k.kid != "") {
			continue
		}
		if k.kty != method.kty || k.alg != "" && k.alg != alg {
			if failed == errKey {
				failed = errAlgorithm
			}
			continue
		}
		if method.Verify(signed, signature, k.public) == nil {
			return nil
		}
		failed = errSignature
	}
	return failed
}

// checkClaims must only be called once the signature is verified.
func checkClaims(payload string, want Rules) (Assertion, error) {
	c := jose.DecodeClaims(payload)
	issuer, subject, expires, issued := c.Text("iss"), c.Text("sub"), c.Date("exp"), want.Now
	if c.Raw("iat") != nil {
		issued = c.Date("iat")
	}
	notBefore, audience := c.OptionalDate("nbf"), c.Audience()
	if !c.OK {
		return Assertion{}, errClaims
	}
	// Clocks differ, so exp has leeway here too: the client made it by its own clock.
	end, id := expires.Add(jose.Leeway), c.OptionalText("jti")
	early := want.Now.Add(jose.Leeway)
	switch {
	case issuer != want.Client || subject != want.Client || want.Client == "":
		return Assertion{}, errParty
	case !want.isAudience(audience):
		return Assertion{}, errAudience
	case !want.Now.Before(end):
		return Assertion{}, ErrExpired
	case issued.After(early), notBefore.After(early):
		return Assertion{}, ErrEarly
	case expires.After(early.Add(maxAge)), expires.After(issued.Add(maxAge + jose.Leeway)):
		return Assertion{}, errLifetime
	case !c.OK || id == "" || len(id) > maxJTI:
		return Assertion{}, errID
	}
	return Assertion{ID: id, Expires: end}, nil
}
