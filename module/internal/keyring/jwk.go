package keyring

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/big"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// jwk is a public key in the format of RFC 7517. It has no field for private parts, so none can be
// published by mistake.
type jwk struct {
	Kty string `json:"kty"`
	Kid string `json:"kid,omitempty"`
	Use string `json:"use,omitempty"`
	Alg string `json:"alg,omitempty"`
	Crv string `json:"crv,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
}

// newJWK returns the JWK of a public key, with the thumbprint as its kid.
func newJWK(alg string, public crypto.PublicKey) (jwk, error) {
	k := jwk{Kty: algorithms[alg].kty, Use: "sig", Alg: alg}
	text := jose.Base64.EncodeToString
	switch p := public.(type) {
	case *ecdsa.PublicKey:
		point, err := p.Bytes()
		if err != nil || p.Curve != elliptic.P256() || k.Kty != "EC" {
			return jwk{}, errNotP256
		}
		k.Crv, k.X, k.Y = "P-256", text(point[1:33]), text(point[33:])
	case *rsa.PublicKey:
		k.N, k.E = text(p.N.Bytes()), text(big.NewInt(int64(p.E)).Bytes())
	case ed25519.PublicKey:
		k.Crv, k.X = "Ed25519", text(p)
	default:
		return jwk{}, fmt.Errorf("keyring: a public key of type %T", public)
	}
	k.Kid = k.thumbprint()
	return k, nil
}

// thumbprint returns the hash of the required members in lexicographic order (RFC 7638 section 3; RFC 8037
// appendix A.3 for Ed25519). None of the values needs escaping.
func (k jwk) thumbprint() string {
	var text string
	switch k.Kty {
	case "EC":
		text = `{"crv":"` + k.Crv + `","kty":"EC","x":"` + k.X + `","y":"` + k.Y + `"}`
	case "RSA":
		text = `{"e":"` + k.E + `","kty":"RSA","n":"` + k.N + `"}`
	case "OKP":
		text = `{"crv":"` + k.Crv + `","kty":"OKP","x":"` + k.X + `"}`
	}
	sum := sha256.Sum256([]byte(text))
	return jose.Base64.EncodeToString(sum[:])
}

// public returns the key. It refuses keys that are weak, do not match their algorithm, or are not in the encoding
// that newJWK writes.
func (k jwk) public() (crypto.PublicKey, error) {
	raw, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	members := jose.ClaimsOf(all)
	key, err := jose.PublicKey(&members)
	if err != nil {
		return nil, fmt.Errorf("the public key is damaged: %w", err)
	}
	if again, err := newJWK(k.Alg, key); err != nil || again != k {
		return nil, errors.Join(errors.New("the public key is damaged"), err)
	}
	return key, nil
}

// KeySet is the published form of the ring, with public keys only.
type KeySet struct {
	JSON []byte // a JWK set, RFC 7517 section 5
	ETag string // strong, quoted
}

// newKeySet encodes the JWK set. Its ETag depends only on the content.
func newKeySet(keys iter.Seq[*Key]) (KeySet, error) {
	set := struct {
		Keys []jwk `json:"keys"`
	}{Keys: []jwk{}}
	for k := range keys {
		set.Keys = append(set.Keys, k.Public)
	}
	text, err := json.Marshal(set)
	if err != nil {
		return KeySet{}, fmt.Errorf("keyring: encoding the public keys: %w", err)
	}
	sum := sha256.Sum256(text)
	return KeySet{JSON: text, ETag: `"` + jose.Base64.EncodeToString(sum[:16]) + `"`}, nil
}
