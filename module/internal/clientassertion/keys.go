package clientassertion

import (
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

const (
	// maxJWKS bounds a client's JWK set, and maxKeys the signatures that one assertion without a kid can make us
	// check.
	maxJWKS = 32 << 10
	maxKeys = 8
	maxKid  = 256
)

// methods are the algorithms of client assertions and the kty each belongs to (RFC 7518 section 3.1, RFC 8037 section
// 3.1). HMAC and none are not among them.
var methods = map[string]struct {
	kty string
	jwt.SigningMethod
}{
	"ES256": {"EC", jwt.SigningMethodES256},
	"RS256": {"RSA", jwt.SigningMethodRS256},
	"PS256": {"RSA", jwt.SigningMethodPS256},
	"EdDSA": {"OKP", jwt.SigningMethodEdDSA},
}

// Algorithms are the names of the algorithms that assertions may be signed with, in alphabetical order.
var Algorithms = []string{"ES256", "EdDSA", "PS256", "RS256"}

// Keys are the public keys of a client. They are immutable.
type Keys struct {
	keys []key
}

type key struct {
	kid, kty string
	alg      string // the only algorithm of the key; "" when the key does not say
	public   crypto.PublicKey
}

// ParseKeys reads a client's JWK set (RFC 7517 section 5): up to 8 keys in 32 KiB, EC on P-256, RSA of 2048 to 8192
// bits, and Ed25519. Keys of other types and keys that are not for signatures are ignored, as section 5 has it, but
// one must be left; a set that holds a symmetric key or a private half is refused. The errors are for whoever
// registers the client.
func ParseKeys(jwks string) (*Keys, error) {
	if len(jwks) > maxJWKS {
		return nil, fmt.Errorf("the JWK set has %d bytes, at most %d are read", len(jwks), maxJWKS)
	}
	var set map[string]json.RawMessage
	var keys []map[string]json.RawMessage
	if !utf8.ValidString(jwks) || json.Unmarshal([]byte(jwks), &set) != nil || json.Unmarshal(set["keys"], &keys) != nil {
		return nil, errors.New(`the JWK set is not of the form {"keys": [...]} (PEM is not read)`)
	}
	if len(keys) > maxKeys {
		return nil, fmt.Errorf("the JWK set holds %d keys, at most %d are read", len(keys), maxKeys)
	}
	var out Keys
	var ignored string
	for n, members := range keys {
		if err := checkPublic(members); err != nil {
			return nil, fmt.Errorf("key %d of the JWK set: %w", n+1, err)
		}
		k, err := parseKey(jose.ClaimsOf(members))
		if err != nil {
			ignored += fmt.Sprintf("; key %d of the JWK set: %v", n+1, err)
			continue
		}
		if k.kid != "" && slices.ContainsFunc(out.keys, func(have key) bool { return have.kid == k.kid }) {
			return nil, fmt.Errorf("key %d of the JWK set has the kid of another one", n+1)
		}
		out.keys = append(out.keys, k)
	}
	if len(out.keys) == 0 {
		return nil, errors.New("the JWK set holds no key that can verify a signature: expected EC on P-256, RSA of at least 2048 bits or Ed25519" + ignored)
	}
	return &out, nil
}

// checkPublic refuses a key with a secret, which does not belong in anybody's configuration.
func checkPublic(members map[string]json.RawMessage) error {
	if members == nil {
		return errors.New("expected an object")
	}
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "oth"} {
		if members[name] != nil {
			return fmt.Errorf("it has the private member %s: give the public half only, and make a new key, since this one is no longer private", name)
		}
	}
	if jwk := jose.ClaimsOf(members); jwk.OptionalText("kty") == "oct" || members["k"] != nil {
		return errors.New("it is a symmetric key; private_key_jwt needs a public one")
	}
	return nil
}

func parseKey(jwk jose.Claims) (k key, err error) {
	use := jwk.OptionalText("use")
	k.kty, k.kid, k.alg = jwk.Text("kty"), jwk.OptionalText("kid"), jwk.OptionalText("alg")
	operations := []string{"verify"}
	if raw := jwk.Raw("key_ops"); raw != nil {
		operations = nil
		jwk.OK = json.Unmarshal(raw, &operations) == nil && jwk.OK
	}
	switch {
	case !jwk.OK || len(k.kid) > maxKid:
		return k, errors.New("malformed")
	case use != "" && use != "sig", !slices.Contains(operations, "verify"):
		return k, errors.New("not for signatures")
	case k.alg != "" && methods[k.alg].kty != k.kty:
		return k, errors.New("of an algorithm that is not supported or does not fit its type")
	}
	k.public, err = jose.PublicKey(&jwk)
	return k, err
}
