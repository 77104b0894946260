package clientassertion

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// partyKeys are made once: RSA keys take their time.
var partyKeys = sync.OnceValue(func() map[string]crypto.Signer {
	ec, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	rs, err2 := rsa.GenerateKey(rand.Reader, 2048)
	_, ed, err3 := ed25519.GenerateKey(rand.Reader)
	if err := errors.Join(err1, err2, err3); err != nil {
		panic(err)
	}
	return map[string]crypto.Signer{"ES256": ec, "RS256": rs, "PS256": rs, "EdDSA": ed}
})

// publicJWK is the key of an algorithm as a client would register it.
func publicJWK(t testing.TB, alg string, pairs ...any) map[string]any {
	t.Helper()
	number := jose.Base64.EncodeToString
	var m map[string]any
	switch k := partyKeys()[alg].Public().(type) {
	case *ecdsa.PublicKey:
		point := must(k.Bytes())
		m = map[string]any{"kty": "EC", "crv": "P-256", "x": number(point[1:33]), "y": number(point[33:])}
	case *rsa.PublicKey:
		m = map[string]any{"kty": "RSA", "n": number(k.N.Bytes()), "e": number(big.NewInt(int64(k.E)).Bytes())}
	case ed25519.PublicKey:
		m = map[string]any{"kty": "OKP", "crv": "Ed25519", "x": number(k)}
	}
	return with(m, pairs...)
}

// encode is the encoded form of a part of a JWS; a string is taken as JSON.
func encode(t testing.TB, v any) string {
	t.Helper()
	if s, ok := v.(string); ok {
		return jose.Base64.EncodeToString([]byte(s))
	}
	return jose.Base64.EncodeToString(must(json.Marshal(v)))
}

// with sets members of m, in pairs of name and value; nil removes one.
func with(m map[string]any, pairs ...any) map[string]any {
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		if m[name] = pairs[i+1]; pairs[i+1] == nil {
			delete(m, name)
		}
	}
	return m
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func jwks(t testing.TB, keys ...map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func clientKeys(t testing.TB, keys ...map[string]any) *Keys {
	t.Helper()
	c, err := ParseKeys(jwks(t, keys...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const issuerName = "https://auth.example.org/a"

var assertionNow = time.Unix(1_800_000_000, 0)

func rules() Rules {
	return Rules{Client: "shop", Audience: []string{issuerName}, Beside: []string{issuerName + "/token"}, Now: assertionNow}
}

func assertionClaims(pairs ...any) map[string]any {
	now := assertionNow.Unix()
	return with(map[string]any{"iss": "shop", "sub": "shop", "aud": issuerName, "jti": "j-1", "iat": now, "exp": now + 60}, pairs...)
}

// assertion is signed with the key of method, whatever the header says.
func assertion(t testing.TB, method string, header, claims any) string {
	t.Helper()
	signed := encode(t, header) + "." + encode(t, claims)
	signature, err := jwt.GetSigningMethod(method).Sign(signed, partyKeys()[method])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + jose.Base64.EncodeToString(signature)
}

func TestAssertionIsVerifiedWithTheClientsKey(t *testing.T) {
	for _, alg := range Algorithms {
		for name, c := range map[string]struct {
			key, header []any
			claims      []any
		}{
			"as most clients send it":   {[]any{"kid", "k1"}, []any{"kid", "k1", "typ", "JWT"}, nil},
			"with neither kid nor typ":  {nil, nil, nil},
			"key without kid":           {nil, []any{"kid", "k1"}, nil},
			"pinned to its algorithm":   {[]any{"alg", alg, "use", "sig", "key_ops", []string{"verify"}}, nil, nil},
			"a type of its own":         {nil, []any{"typ", "client-authentication+jwt", "x5t", "AA"}, nil},
			"a list":                    {nil, nil, []any{"aud", []string{issuerName}}},
			"with the token endpoint":   {nil, nil, []any{"aud", []string{issuerName, issuerName + "/token"}}},
			"without iat":               {nil, nil, []any{"iat", nil}},
			"with nbf":                  {nil, nil, []any{"nbf", assertionNow.Unix()}},
			"the longest life":          {nil, nil, []any{"exp", assertionNow.Unix() + 360}},
			"the client's clock behind": {nil, nil, []any{"iat", assertionNow.Unix() - 100, "exp", assertionNow.Unix() - 40}},
		} {
			keys := clientKeys(t, publicJWK(t, alg, c.key...))
			raw := assertion(t, alg, with(map[string]any{"alg": alg}, c.header...), assertionClaims(c.claims...))
			a, err := keys.Verify(raw, rules())
			if err != nil || a.ID != "j-1" || !a.Expires.After(assertionNow) {
				t.Errorf("%s, %s: %+v, %v", alg, name, a, err)
			}
		}
	}
}

func TestForgedAssertionsAreRefused(t *testing.T) {
	now := assertionNow.Unix()
	keys := clientKeys(t, publicJWK(t, "ES256", "kid", "ec"), publicJWK(t, "RS256", "kid", "rsa", "alg", "RS256"), publicJWK(t, "EdDSA", "kid", "ed"))
	for name, c := range map[string]struct {
		header, claims []any
		want           error
	}{
		"alg none":            {[]any{"alg", "none"}, nil, errAlgorithm},
		"alg HS256":           {[]any{"alg", "HS256"}, nil, errAlgorithm},
		"alg absent":          {[]any{"alg", nil}, nil, errHeader},
		"alg of another key":  {[]any{"alg", "EdDSA"}, nil, errSignature},
		"ES384":               {[]any{"alg", "ES384"}, nil, errAlgorithm},
		"kid of another key":  {[]any{"kid", "rsa"}, nil, errAlgorithm},
		"kid unknown":         {[]any{"kid", "k"}, nil, errKey},
		"kid a number":        {[]any{"kid", 1}, nil, errHeader},
		"crit":                {[]any{"crit", []string{"exp"}}, nil, errHeader},
		"b64":                 {[]any{"b64", false}, nil, errHeader},
		"zip":                 {[]any{"zip", "DEF"}, nil, errHeader},
		"jwk":                 {[]any{"jwk", publicJWK(t, "ES256")}, nil, errHeader},
		"jku":                 {[]any{"jku", "http://127.0.0.1:1"}, nil, errHeader},
		"x5u":                 {[]any{"x5u", "http://127.0.0.1:1"}, nil, errHeader},
		"x5c":                 {[]any{"x5c", []string{"AA"}}, nil, errHeader},
		"typ of access token": {[]any{"typ", "at+jwt"}, nil, errType},
		"typ of DPoP":         {[]any{"typ", "dpop+jwt"}, nil, errType},
		"a long header":       {[]any{"x5t", strings.Repeat("a", maxHeader)}, nil, errHeader},
		"iss another":         {nil, []any{"iss", "other"}, errParty},
		"sub another":         {nil, []any{"sub", "other"}, errParty},
		"both another":        {nil, []any{"iss", "other", "sub", "other"}, errParty},
		"iss absent":          {nil, []any{"iss", nil}, errClaims},
		"sub absent":          {nil, []any{"sub", nil}, errClaims},
		"aud another":         {nil, []any{"aud", "https://elsewhere.example"}, errAudience},
		"aud of two servers":  {nil, []any{"aud", []string{issuerName, "https://elsewhere.example"}}, errAudience},
		"aud an endpoint":     {nil, []any{"aud", issuerName + "/token"}, errAudience},
		"aud with a slash":    {nil, []any{"aud", issuerName + "/"}, errAudience},
		"aud absent":          {nil, []any{"aud", nil}, errClaims},
		"aud empty":           {nil, []any{"aud", []string{}}, errClaims},
		"exp absent":          {nil, []any{"exp", nil}, errClaims},
		"exp a string":        {nil, []any{"exp", "1800000060"}, errClaims},
		"expired":             {nil, []any{"exp", now - 60}, ErrExpired},
		"lives a year":        {nil, []any{"exp", now + 31_536_000}, errLifetime},
		"lives too long":      {nil, []any{"exp", now + 361}, errLifetime},
		"late for its iat":    {nil, []any{"iat", now + 50, "exp", now + 400}, errLifetime},
		"made long before":    {nil, []any{"iat", now - 400, "exp", now + 10}, errLifetime},
		"made in the future":  {nil, []any{"iat", now + 61, "exp", now + 120}, ErrEarly},
		"not yet":             {nil, []any{"nbf", now + 61}, ErrEarly},
		"jti absent":          {nil, []any{"jti", nil}, errID},
		"jti empty":           {nil, []any{"jti", ""}, errID},
		"jti a number":        {nil, []any{"jti", 7}, errID},
		"jti too long":        {nil, []any{"jti", strings.Repeat("j", maxJTI+1)}, errID},
	} {
		raw := assertion(t, "ES256", with(map[string]any{"alg": "ES256"}, c.header...), assertionClaims(c.claims...))
		if a, err := keys.Verify(raw, rules()); err != c.want || a != (Assertion{}) || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v, %v, want %v", name, a, err, c.want)
		}
	}
	good := assertion(t, "ES256", map[string]any{"alg": "ES256"}, assertionClaims())
	for name, raw := range map[string]string{
		"nothing": "", "two parts": "a.b", "no signature": good[:strings.LastIndexByte(good, '.')+1], "five parts": "a.b.c.d.e",
		"signature cut": good[:len(good)-3], "a line break": good[:10] + "\n" + good[10:], "padding": good + "=",
		"too long":                    strings.Repeat("a", maxSize+1),
		"signed by somebody else":     assertion(t, "EdDSA", map[string]any{"alg": "ES256"}, assertionClaims()),
		"PS256 with a key for RS256":  assertion(t, "PS256", map[string]any{"alg": "PS256"}, assertionClaims()),
		"RS256 with a PS256 header":   assertion(t, "RS256", map[string]any{"alg": "PS256", "kid": "rsa"}, assertionClaims()),
		"payload is no object":        assertion(t, "ES256", map[string]any{"alg": "ES256"}, `[]`),
		"a header that is no object":  assertion(t, "ES256", `null`, assertionClaims()),
		"a header with case mistakes": assertion(t, "ES256", map[string]any{"ALG": "ES256"}, assertionClaims()),
	} {
		if _, err := keys.Verify(raw, rules()); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := keys.Verify(good, Rules{Now: assertionNow, Audience: []string{issuerName}}); !errors.Is(err, errParty) {
		t.Errorf("rules without a client: %v", err)
	}
	if _, err := keys.Verify(good, Rules{Now: assertionNow, Client: "shop"}); !errors.Is(err, errAudience) {
		t.Errorf("rules without an audience: %v", err)
	}
}

func TestHMACWithThePublicKeyIsNoAssertion(t *testing.T) { // G10
	set := jwks(t, publicJWK(t, "RS256"))
	keys, err := ParseKeys(set)
	if err != nil {
		t.Fatal(err)
	}
	signed := encode(t, map[string]any{"alg": "HS256"}) + "." + encode(t, assertionClaims())
	mac := hmac.New(sha256.New, []byte(set))
	mac.Write([]byte(signed))
	if _, err := keys.Verify(signed+"."+jose.Base64.EncodeToString(mac.Sum(nil)), rules()); !errors.Is(err, errAlgorithm) {
		t.Errorf("Verify = %v", err)
	}
}

func TestReturnedExpiryIsWhenTheAssertionIsRefused(t *testing.T) {
	keys := clientKeys(t, publicJWK(t, "EdDSA"))
	raw := assertion(t, "EdDSA", map[string]any{"alg": "EdDSA"}, assertionClaims())
	a, err := keys.Verify(raw, rules())
	if err != nil {
		t.Fatal(err)
	}
	want := rules()
	want.Now = a.Expires.Add(-time.Nanosecond)
	if _, err := keys.Verify(raw, want); err != nil {
		t.Errorf("a moment before: %v", err)
	}
	want.Now = a.Expires
	if _, err := keys.Verify(raw, want); !errors.Is(err, ErrExpired) {
		t.Errorf("then: %v", err)
	}
}

func TestClientKeysAreValidated(t *testing.T) {
	ec, rs, ed := publicJWK(t, "ES256"), publicJWK(t, "RS256"), publicJWK(t, "EdDSA")
	small, err := jose.Base64.DecodeString(rs["n"].(string))
	if err != nil {
		t.Fatal(err)
	}
	change := func(k map[string]any, pairs ...any) map[string]any { return with(maps.Clone(k), pairs...) }
	for name, c := range map[string]struct{ set, want string }{
		"empty":             {"", "not of the form"},
		"no JSON":           {"{", "not of the form"},
		"a bare key":        {string(must(json.Marshal(ec))), "not of the form"},
		"no keys":           {`{"keys":[]}`, "no key"},
		"keys no list":      {`{"keys":{}}`, "not of the form"},
		"a null key":        {`{"keys":[null]}`, "expected an object"},
		"too big":           {`{"keys":[]}` + strings.Repeat(" ", maxJWKS), "at most"},
		"private EC":        {jwks(t, change(ec, "d", "AA")), "private member d"},
		"private RSA":       {jwks(t, ec, change(rs, "p", "AA")), "key 2 of the JWK set: it has the private member p"},
		"symmetric":         {jwks(t, ec, map[string]any{"kty": "oct", "k": "AAAA"}), "symmetric"},
		"k in another type": {jwks(t, change(ec, "k", "AA")), "symmetric"},
		"for encryption":    {jwks(t, change(ec, "use", "enc")), "not for signatures"},
		"key_ops":           {jwks(t, change(ec, "key_ops", []string{"encrypt"})), "not for signatures"},
		"key_ops no list":   {jwks(t, change(ec, "key_ops", "verify")), "malformed"},
		"HS256":             {jwks(t, change(rs, "alg", "HS256")), "algorithm"},
		"RS512":             {jwks(t, change(rs, "alg", "RS512")), "algorithm"},
		"alg of another":    {jwks(t, change(rs, "alg", "ES256")), "algorithm"},
		"P-384":             {jwks(t, change(ec, "crv", "P-384")), "P-256"},
		"not on the curve":  {jwks(t, change(ec, "x", ec["y"])), "point"},
		"short coordinate":  {jwks(t, change(ec, "x", "AA")), "P-256"},
		"X25519":            {jwks(t, change(ed, "crv", "X25519")), "Ed25519"},
		"short Ed25519":     {jwks(t, change(ed, "x", "AA")), "Ed25519"},
		"1024 bits":         {jwks(t, change(rs, "n", jose.Base64.EncodeToString(small[:128]))), "or Ed25519; key 1 of the JWK set: an RSA key of 1024 bits"},
		"huge":              {jwks(t, change(rs, "n", jose.Base64.EncodeToString(append([]byte{1}, make([]byte, 1024)...)))), "at most"},
		"even":              {jwks(t, change(rs, "n", jose.Base64.EncodeToString(append(small[:255:255], 2)))), "RSA key"},
		"exponent 1":        {jwks(t, change(rs, "e", "AQ")), "RSA key"},
		"exponent huge":     {jwks(t, change(rs, "e", "AQAAAAAAAAAB")), "RSA key"},
		"no base64":         {jwks(t, change(ec, "x", "=")), "P-256"},
		"unknown type":      {jwks(t, change(ec, "kty", "AKP")), "type"},
		"no type":           {jwks(t, change(ec, "kty", nil)), "malformed"},
		"kid a number":      {jwks(t, change(ec, "kid", 1)), "malformed"},
		"kid too long":      {jwks(t, change(ec, "kid", strings.Repeat("k", 1000))), "malformed"},
		"a kid twice":       {jwks(t, change(ec, "kid", "k"), change(rs, "kid", "k")), "kid"},
	} {
		if keys, err := ParseKeys(c.set); err == nil || keys != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	full := make([]map[string]any, maxKeys)
	for i := range full {
		full[i] = ec
	}
	if _, err := ParseKeys(jwks(t, full...)); err != nil {
		t.Errorf("as many keys as are taken: %v", err)
	}
	if _, err := ParseKeys(jwks(t, append(full, ec)...)); err == nil {
		t.Error("one key more was taken")
	}
	keys := clientKeys(t, change(rs, "use", "enc"), change(ec, "crv", "P-521"), map[string]any{"kty": "AKP"}, ed)
	if len(keys.keys) != 1 {
		t.Errorf("%d keys, want the one that can verify", len(keys.keys))
	}
}
