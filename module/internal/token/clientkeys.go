package token

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// maxJWKS bounds a client's JWK set, and maxClientKeys the signatures that one
	// assertion without a kid can make us check.
	maxJWKS       = 32 << 10
	maxClientKeys = 8
	// maxRSABits bounds what checking a signature with a key of the client's making costs.
	maxRSABits = 8192
)

// assertionMethods are the algorithms of client assertions and the kty each belongs to
// (RFC 7518 section 3.1, RFC 8037 section 3.1). HMAC and none are not among them.
var assertionMethods = map[string]struct {
	kty    string
	method jwt.SigningMethod
}{
	"ES256": {"EC", jwt.SigningMethodES256},
	"RS256": {"RSA", jwt.SigningMethodRS256},
	"PS256": {"RSA", jwt.SigningMethodPS256},
	"EdDSA": {"OKP", jwt.SigningMethodEdDSA},
}

// AssertionAlgorithms are the names of the algorithms that client assertions may be
// signed with, in alphabetical order.
var AssertionAlgorithms = []string{"ES256", "EdDSA", "PS256", "RS256"}

// ClientKeys are the public keys of a client. They are immutable.
type ClientKeys struct {
	keys []clientKey
}

type clientKey struct {
	kid, kty string
	alg      string // the only algorithm of the key; "" when the key does not say
	public   crypto.PublicKey
}

// ParseClientKeys reads a client's JWK set (RFC 7517 section 5). It takes up to 8 keys
// in 32 KiB: EC on P-256, RSA of 2048 to 8192 bits, and Ed25519. Keys that it does not
// know or that are not for signatures are passed over, as section 5 has it, but one
// must be left; a set that holds a symmetric key or a private half is refused. The
// errors are for whoever registers the client.
func ParseClientKeys(jwks string) (*ClientKeys, error) {
	if len(jwks) > maxJWKS {
		return nil, fmt.Errorf("the JWK set has %d bytes, at most %d are read", len(jwks), maxJWKS)
	}
	var set map[string]json.RawMessage
	var keys []map[string]json.RawMessage
	if !utf8.ValidString(jwks) || json.Unmarshal([]byte(jwks), &set) != nil || json.Unmarshal(set["keys"], &keys) != nil {
		return nil, errors.New(`the JWK set is not of the form {"keys": [...]} (PEM is not read)`)
	}
	if len(keys) > maxClientKeys {
		return nil, fmt.Errorf("the JWK set holds %d keys, at most %d are read", len(keys), maxClientKeys)
	}
	var out ClientKeys
	var passed error
	for n, members := range keys {
		if err := harmless(members); err != nil {
			return nil, fmt.Errorf("key %d of the JWK set: %w", n+1, err)
		}
		k, err := parseClientKey(members)
		if err != nil {
			passed = errors.Join(passed, fmt.Errorf("key %d of the JWK set: %w", n+1, err))
			continue
		}
		if k.kid != "" && slices.ContainsFunc(out.keys, func(have clientKey) bool { return have.kid == k.kid }) {
			return nil, fmt.Errorf("key %d of the JWK set has the kid of another one", n+1)
		}
		out.keys = append(out.keys, k)
	}
	if len(out.keys) == 0 {
		return nil, errors.Join(errors.New("the JWK set holds no key that can verify a signature: expected EC on P-256, RSA of at least 2048 bits or Ed25519"), passed)
	}
	return &out, nil
}

// harmless refuses what must not be lying in anybody's configuration: a secret.
func harmless(members map[string]json.RawMessage) error {
	if members == nil {
		return errors.New("expected an object")
	}
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "oth"} {
		if members[name] != nil {
			return fmt.Errorf("it has the private member %s: give the public half only, and make a new key, since this one is no longer private", name)
		}
	}
	if kty, _ := decodeText(members["kty"]); kty == "oct" || members["k"] != nil {
		return errors.New("it is a symmetric key; private_key_jwt needs a public one")
	}
	return nil
}

// parseClientKey reads one key. Numbers and points must have the length that RFC 7518
// section 6 demands, so that no key has two spellings.
func parseClientKey(m map[string]json.RawMessage) (k clientKey, err error) {
	r := claimReader{claims: m, good: true}
	use, crv := r.may("use"), r.may("crv")
	k.kty, k.kid, k.alg = r.must("kty"), r.may("kid"), r.may("alg")
	var operations []string
	if m["key_ops"] != nil && json.Unmarshal(m["key_ops"], &operations) != nil {
		r.good = false
	}
	switch {
	case !r.good || len(k.kid) > maxHeader/2:
		return k, errors.New("malformed")
	case use != "" && use != "sig", m["key_ops"] != nil && !slices.Contains(operations, "verify"):
		return k, errors.New("not for signatures")
	case k.alg != "" && assertionMethods[k.alg].kty != k.kty:
		return k, errors.New("of an algorithm that is not supported or does not fit its type")
	}
	switch k.kty {
	case "EC":
		k.public, err = ecKey(crv, r.bytes("x"), r.bytes("y"))
	case "RSA":
		k.public, err = rsaKey(r.bytes("n"), r.bytes("e"))
	case "OKP":
		x := r.bytes("x")
		if crv != "Ed25519" || len(x) != ed25519.PublicKeySize {
			return k, errors.New("not an Ed25519 key")
		}
		k.public = ed25519.PublicKey(x)
	default:
		return k, errors.New("of a type that is not supported")
	}
	if err == nil && !r.good {
		err = errors.New("malformed")
	}
	return k, err
}

func ecKey(crv string, x, y []byte) (crypto.PublicKey, error) {
	if crv != "P-256" || len(x) != 32 || len(y) != 32 {
		return nil, errors.New("not a P-256 key")
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), bytes.Join([][]byte{{4}, x, y}, nil))
	if err != nil {
		return nil, errors.New("not a point of P-256")
	}
	return public, nil
}

func rsaKey(n, e []byte) (crypto.PublicKey, error) {
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
	switch {
	case modulus.BitLen() < rsaBits:
		return nil, fmt.Errorf("an RSA key of %d bits, at least %d are needed", modulus.BitLen(), rsaBits)
	case modulus.BitLen() > maxRSABits:
		return nil, fmt.Errorf("an RSA key of %d bits, at most %d are taken", modulus.BitLen(), maxRSABits)
	case modulus.Bit(0) == 0, !exponent.IsInt64(), exponent.Int64() < 3, exponent.Int64() > 1<<31-1, exponent.Bit(0) == 0:
		return nil, errors.New("not an RSA key")
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, nil
}

// bytes is a member in base64url (RFC 7518 section 2) that is there.
func (r *claimReader) bytes(name string) []byte {
	raw, err := b64.DecodeString(r.must(name))
	r.good = r.good && err == nil
	return raw
}
