package keyring

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// algorithm is a signing algorithm. A key is made for one algorithm and never used with another: the header of a
// token must agree with its key, or the token is refused.
type algorithm struct {
	kty      string
	method   jwt.SigningMethod
	generate func() (crypto.Signer, error)
}

// algorithms are those that the gateway signs with (RFC 7518 section 3.1, RFC 8037 section 3.1).
var algorithms = map[string]algorithm{
	"ES256": {"EC", es256{jwt.SigningMethodES256}, func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }},
	"RS256": {"RSA", jwt.SigningMethodRS256, func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, jose.MinRSABits) }},
	"EdDSA": {"OKP", jwt.SigningMethodEdDSA, func() (crypto.Signer, error) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}},
}

// Supports reports whether keys can be made for an algorithm.
func Supports(alg string) bool { return algorithms[alg].method != nil }

// es256 signs deterministically (RFC 6979), as RFC 8725 section 3.2 recommends: a repeated nonce would reveal the
// key. It is also the standard library's variant with the fewest allocations, and most allocations of a request are
// made by signing.
type es256 struct{ *jwt.SigningMethodECDSA }

var errNotP256 = errors.New("keyring: an ES256 key must be on P-256")

// Sign returns the two numbers of the signature, 32 bytes each (RFC 7518 section 3.4).
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
		return nil, errors.New("keyring: a signature is not a DER sequence of two numbers")
	}
	copy(signature[32-len(r):32], r)
	copy(signature[64-len(s):], s)
	return signature, nil
}

// Verify takes the two numbers to the standard library's form. jwt's own does it with big integers, which made verifying
// a tenth more expensive.
func (es256) Verify(text string, signature []byte, key any) error {
	public, ok := key.(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return errNotP256
	}
	if len(signature) != 64 {
		return jwt.ErrECDSAVerification
	}
	digest := sha256.Sum256([]byte(text))
	der := append(make([]byte, 0, 72), byte(asn1.SEQUENCE), 0)
	der = appendDERNumber(der, signature[:32])
	der = appendDERNumber(der, signature[32:])
	der[1] = byte(len(der) - 2)
	if !ecdsa.VerifyASN1(public, digest[:], der) {
		return jwt.ErrECDSAVerification
	}
	return nil
}

// appendDERNumber appends an unsigned number: without leading zeros, but for one where it would look negative. Zero becomes
// invalid, which no number of a signature may be.
func appendDERNumber(der, number []byte) []byte {
	number = bytes.TrimLeft(number, "\x00")
	if len(number) > 0 && number[0] >= 0x80 {
		return append(append(der, byte(asn1.INTEGER), byte(len(number)+1), 0), number...)
	}
	return append(append(der, byte(asn1.INTEGER), byte(len(number))), number...)
}
