package token

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/big"
)

// jwk is a public key by RFC 7517. The type has no private member, so none can be
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

var b64 = base64.RawURLEncoding.Strict()

// newJWK describes a public key; its kid is the thumbprint.
func newJWK(alg string, public crypto.PublicKey) (jwk, error) {
	k := jwk{Use: "sig", Alg: alg}
	switch p := public.(type) {
	case *ecdsa.PublicKey:
		point, err := p.Bytes()
		if err != nil || p.Curve != elliptic.P256() {
			return jwk{}, errors.New("token: not a P-256 key")
		}
		k.Kty, k.Crv = "EC", "P-256"
		k.X, k.Y = b64.EncodeToString(point[1:33]), b64.EncodeToString(point[33:])
	case *rsa.PublicKey:
		k.Kty = "RSA"
		k.N = b64.EncodeToString(p.N.Bytes())
		k.E = b64.EncodeToString(big.NewInt(int64(p.E)).Bytes())
	case ed25519.PublicKey:
		k.Kty, k.Crv, k.X = "OKP", "Ed25519", b64.EncodeToString(p)
	default:
		return jwk{}, fmt.Errorf("token: a public key of type %T", public)
	}
	k.Kid = k.thumbprint()
	return k, nil
}

// thumbprint is RFC 7638 section 3, and RFC 8037 appendix A.3 for Ed25519: the hash
// of the required members in lexicographic order. None of the values needs escaping.
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
	return b64.EncodeToString(sum[:])
}

// public gives the key back and refuses one that is weak, does not fit its algorithm
// or is written in another way than ours.
func (k jwk) public() (crypto.PublicKey, error) {
	key, err := k.parse()
	if err != nil {
		return nil, err
	}
	again, err := newJWK(k.Alg, key)
	if err != nil {
		return nil, err
	}
	if again != k {
		return nil, errors.New("token: a damaged public key")
	}
	return key, nil
}

func (k jwk) parse() (crypto.PublicKey, error) {
	switch {
	case k.Alg == "ES256" && k.Kty == "EC" && k.Crv == "P-256":
		x, errX := b64.DecodeString(k.X)
		y, errY := b64.DecodeString(k.Y)
		if err := errors.Join(errX, errY); err != nil {
			return nil, err
		}
		return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), bytes.Join([][]byte{{4}, x, y}, nil))
	case k.Alg == "RS256" && k.Kty == "RSA":
		n, errN := b64.DecodeString(k.N)
		e, errE := b64.DecodeString(k.E)
		if err := errors.Join(errN, errE); err != nil {
			return nil, err
		}
		modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
		if modulus.BitLen() < rsaBits || !exponent.IsInt64() || exponent.Int64() < 3 || exponent.Int64() > 1<<31-1 {
			return nil, errors.New("token: a weak RSA key")
		}
		return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, nil
	case k.Alg == "EdDSA" && k.Kty == "OKP" && k.Crv == "Ed25519":
		x, err := b64.DecodeString(k.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, errors.New("token: not an Ed25519 key")
		}
		return ed25519.PublicKey(x), nil
	}
	return nil, fmt.Errorf("token: a key of type %q for algorithm %q", k.Kty, k.Alg)
}

// newKeySet writes the JWK set. Its tag follows from its content.
func newKeySet(keys iter.Seq[*ringKey]) (KeySet, error) {
	set := struct {
		Keys []jwk `json:"keys"`
	}{Keys: []jwk{}}
	for k := range keys {
		set.Keys = append(set.Keys, k.jwk)
	}
	text, err := json.Marshal(set)
	if err != nil {
		return KeySet{}, fmt.Errorf("token: encoding the public keys: %w", err)
	}
	sum := sha256.Sum256(text)
	return KeySet{JSON: text, ETag: `"` + b64.EncodeToString(sum[:16]) + `"`}, nil
}
