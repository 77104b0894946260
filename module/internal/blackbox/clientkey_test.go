package blackbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// clientKey is what a client authenticates with by private_key_jwt.
type clientKey struct{ *ecdsa.PrivateKey }

// newClientKey makes a key and the set that the client is configured with.
func newClientKey(t *testing.T) (clientKey, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding
	return clientKey{key}, fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","x":"%s","y":"%s"}]}`, b64.EncodeToString(point[1:33]), b64.EncodeToString(point[33:]))
}

// assert signs a client assertion (RFC 7523 section 3).
func (k clientKey) assert(t *testing.T, client, audience string) string {
	t.Helper()
	now := time.Now()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": client, "sub": client, "aud": audience, "jti": secret.ID(), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	}).SignedString(k.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}
