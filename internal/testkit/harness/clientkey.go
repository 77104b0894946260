package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// ClientKey is the key with which a client authenticates by private_key_jwt.
type ClientKey struct {
	private *ecdsa.PrivateKey
	// JWKS is the key set in the client's configuration.
	JWKS string
}

// NewClientKey generates a key for ES256.
func NewClientKey(t testing.TB) ClientKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	FailOn(t, err)
	point, err := private.PublicKey.Bytes()
	FailOn(t, err)
	return ClientKey{private, fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","x":"%s","y":"%s"}]}`, b64(point[1:33]), b64(point[33:]))}
}

// PKCS8 returns the private key, for other programs.
func (k ClientKey) PKCS8(t testing.TB) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	FailOn(t, err)
	return der
}

// Assertion returns a client assertion (RFC 7523 section 3) with a new jti. audience is a string or a list of strings.
func (k ClientKey) Assertion(t testing.TB, client string, audience any) string {
	t.Helper()
	return k.AssertionAt(t, client, audience, time.Now())
}

// AssertionAt is Assertion at the given time.
func (k ClientKey) AssertionAt(t testing.TB, client string, audience any, now time.Time) string {
	t.Helper()
	claims, err := json.Marshal(map[string]any{
		"iss": client, "sub": client, "aud": audience, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	})
	FailOn(t, err)
	signed := b64([]byte(`{"alg":"ES256"}`)) + "." + b64(claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
	FailOn(t, err)
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + b64(signature[:])
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
