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

// ClientKey is what a client authenticates with by private_key_jwt.
type ClientKey struct {
	private *ecdsa.PrivateKey
	// JWKS is the set that the client is configured with.
	JWKS string
}

// NewClientKey makes a key for ES256.
func NewClientKey(t testing.TB) ClientKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	FailOn(t, err)
	point, err := private.PublicKey.Bytes()
	FailOn(t, err)
	return ClientKey{private, fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","x":"%s","y":"%s"}]}`, b64(point[1:33]), b64(point[33:]))}
}

// PKCS8 is the private half, for programs of others.
func (k ClientKey) PKCS8(t testing.TB) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	FailOn(t, err)
	return der
}

// Assertion signs one of the client for an audience (RFC 7523 section 3), a text or several, with
// a jti of its own.
func (k ClientKey) Assertion(t testing.TB, client string, audience any) string {
	t.Helper()
	return k.AssertionAt(t, client, audience, time.Now())
}

// AssertionAt is Assertion by a clock that shows now.
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
