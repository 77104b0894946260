package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"

	"github.com/golang-jwt/jwt/v5"
)

// rsaBits is the size of the RSA keys we make and the least we accept (NIST SP
// 800-131A).
const rsaBits = 2048

// algorithm is one way to sign. A key is made for one algorithm and never used with
// another: what a token's header says can only agree with the key or be refused.
type algorithm struct {
	method   jwt.SigningMethod
	generate func() (crypto.Signer, error)
}

// algorithms is everything we sign with (RFC 7518 section 3.1, RFC 8037 section 3.1).
var algorithms = map[string]algorithm{
	"ES256": {es256{jwt.SigningMethodES256}, func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }},
	"RS256": {jwt.SigningMethodRS256, func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, rsaBits) }},
	"EdDSA": {jwt.SigningMethodEdDSA, func() (crypto.Signer, error) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}},
}
