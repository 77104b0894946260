package clientassertion

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// FuzzAssertion looks for a panic, and for an assertion other than the signed one that passes.
func FuzzAssertion(f *testing.F) {
	keys := clientKeys(f, publicJWK(f, "EdDSA", "kid", "k"), publicJWK(f, "ES256"), publicJWK(f, "RS256", "alg", "PS256"))
	good := assertion(f, "EdDSA", map[string]any{"alg": "EdDSA", "kid": "k"}, assertionClaims())
	part := strings.Split(good, ".")
	for _, seed := range []string{
		good, "", "..", good + "\n", part[0] + "." + part[1] + ".",
		encode(f, `{"alg":"none"}`) + "." + part[1] + ".", encode(f, `{"alg":"HS256"}`) + "." + part[1] + "." + part[2],
		encode(f, `{"alg":"PS256","typ":"JWT","x5t":"a"}`) + "." + part[1] + "." + part[2],
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		a, err := keys.Verify(raw, rules())
		switch {
		case raw == good && err != nil:
			t.Error(err)
		case raw != good && (a.ID != "" || !errors.Is(err, ErrInvalid)):
			t.Errorf("Verify = %+v, %v", a, err)
		}
	})
}

// FuzzAssertionClaims reads claims as if they were signed by the client.
func FuzzAssertionClaims(f *testing.F) {
	for _, seed := range []any{
		assertionClaims(), assertionClaims("aud", []string{"a", issuerName}, "nbf", 1), `{"exp":1e400}`, `[]`, `null`,
		assertionClaims("iat", 1.5, "exp", 1_800_000_000.9), assertionClaims("jti", strings.Repeat("j", maxJTI)),
	} {
		f.Add(encode(f, seed))
	}
	f.Fuzz(func(t *testing.T, payload string) {
		want := rules()
		a, err := checkClaims(payload, want)
		if err == nil && (a.ID == "" || len(a.ID) > maxJTI || !a.Expires.After(want.Now) ||
			a.Expires.After(want.Now.Add(maxAge+2*jose.Leeway))) {
			t.Errorf("%q was taken as %+v", payload, a)
		}
	})
}

// FuzzClientKeys looks for a panic, and for a set that is taken though it names something secret or something weak.
func FuzzClientKeys(f *testing.F) {
	for _, alg := range Algorithms {
		f.Add(jwks(f, publicJWK(f, alg, "kid", "k", "alg", alg, "use", "sig", "key_ops", []string{"verify"})))
	}
	for _, seed := range []string{
		`{"keys":[{"kty":"oct","k":"AA"}]}`, `{"keys":[{"kty":"RSA","n":"","e":"AQAB"}]}`, `{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`,
		`{"keys":[null]}`, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","d":""}]}`, `[]`, `null`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, set string) {
		keys, err := ParseKeys(set)
		if (err == nil) != (keys != nil) {
			t.Fatalf("ParseKeys = %v, %v", keys, err)
		}
		if err != nil {
			return
		}
		if len(keys.keys) == 0 || len(keys.keys) > maxKeys {
			t.Errorf("%d keys", len(keys.keys))
		}
		for _, k := range keys.keys {
			if k.public == nil || k.kty == "oct" || k.kty == "" {
				t.Errorf("%q gave %+v", set, k)
			}
		}
		if _, err := keys.Verify("e30.e30.AA", rules()); !errors.Is(err, ErrInvalid) {
			t.Error(err)
		}
	})
}
