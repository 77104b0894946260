package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"errors"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// es256 signs without chance, as RFC 8725 section 3.2 recommends: the number that would give
// the key away if it came twice is derived from key and text (RFC 6979). It is also what
// the standard library does with the least garbage, and most of a token's is of its signature.
type es256 struct{ *jwt.SigningMethodECDSA }

var errNotP256 = errors.New("token: ES256 with another key than one of P-256")

// Sign returns the two numbers one after the other, 32 bytes each (RFC 7518 section 3.4).
func (es256) Sign(text string, key any) ([]byte, error) {
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errNotP256
	}
	digest := sha256.Sum256([]byte(text))
	der, err := private.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	signature, in := make([]byte, 64), cryptobyte.String(der)
	var r, s []byte
	if !in.ReadASN1(&in, asn1.SEQUENCE) || !in.ReadASN1Integer(&r) || !in.ReadASN1Integer(&s) || len(r) > 32 || len(s) > 32 {
		return nil, errors.New("token: not the form of a signature")
	}
	copy(signature[32-len(r):32], r)
	copy(signature[64-len(s):], s)
	return signature, nil
}
