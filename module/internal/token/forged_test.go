package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// refused asks twice, so that the second answer comes from a cache where there is one.
func refused(t *testing.T, n *node, raw string) {
	t.Helper()
	for range 2 {
		began := time.Now()
		a, err := n.verifier.Verify(t.Context(), raw)
		if !errors.Is(err, ErrInvalid) || a != nil {
			t.Fatalf("Verify = %v, %v, want ErrInvalid", a, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the refusal took %v", took)
		}
	}
}

func with(m map[string]any, pairs ...any) map[string]any {
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		if m[name] = pairs[i+1]; pairs[i+1] == nil {
			delete(m, name)
		}
	}
	return m
}

func TestForgedHeadersAreRefused(t *testing.T) {
	n := start(t, "ES256")
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point := must(own.PublicKey.Bytes())
	ownJWK := jwk{Kty: "EC", Crv: "P-256", X: jose.Base64.EncodeToString(point[1:33]), Y: jose.Base64.EncodeToString(point[33:])}
	cases := map[string][]any{
		"G11 kid unknown":            {"kid", strings.Repeat("k", kidLength)},
		"G11 kid a path":             {"kid", "../../dev/null"},
		"G11 kid SQL":                {"kid", "'; --"},
		"G11 kid of 1 MB":            {"kid", strings.Repeat("k", 1<<20)},
		"G11 kid of 400 bytes":       {"kid", strings.Repeat("k", 400)},
		"G11 kid an array":           {"kid", []string{"a"}},
		"G11 kid a number":           {"kid", 1},
		"G11 kid absent":             {"kid", nil},
		"G12 jwk":                    {"jwk", ownJWK},
		"G12 jku":                    {"jku", "http://127.0.0.1:1/keys"},
		"G12 x5u":                    {"x5u", "http://127.0.0.1:1/cert"},
		"G12 x5c":                    {"x5c", []string{"MIIB"}},
		"G13 crit":                   {"crit", []string{"x"}},
		"G13 crit empty":             {"crit", []string{}},
		"G13 b64":                    {"b64", false},
		"G13 b64 and crit":           {"b64", false, "crit", []string{"b64"}},
		"G13 zip":                    {"zip", "DEF"},
		"G13 PBES2":                  {"alg", "PBES2-HS256+A128KW", "p2c", 1 << 31, "p2s", "x"},
		"G14 an ID token":            {"typ", "JWT"},
		"G14 a logout token":         {"typ", "logout+jwt"},
		"G14 no typ":                 {"typ", nil},
		"G14 typ a list":             {"typ", []string{"at+jwt"}},
		"G09 alg none":               {"alg", "none"},
		"G09 alg None":               {"alg", "None"},
		"G09 alg nOnE":               {"alg", "nOnE"},
		"alg in another case":        {"alg", "es256"},
		"alg of another curve":       {"alg", "ES384"},
		"alg of another family":      {"alg", "RS256"},
		"alg absent":                 {"alg", nil},
		"alg null":                   {"alg", json.RawMessage("null")},
		"member names in other case": {"alg", nil, "ALG", "ES256"},
	}
	for name, pairs := range cases {
		t.Run(name, func(t *testing.T) {
			header := with(n.header(t), pairs...)
			refused(t, n, n.sign(t, header, n.claims()))
			signed := encode(t, header) + "." + encode(t, n.claims())
			signature, err := jwt.SigningMethodES256.Sign(signed, own)
			if err != nil {
				t.Fatal(err)
			}
			refused(t, n, signed+"."+jose.Base64.EncodeToString(signature))
			refused(t, n, signed+".")
			refused(t, n, signed+".AA")
		})
	}
	if n.store.Len() != 1 {
		t.Error("forged tokens must leave nothing in the store")
	}
}

func TestHMACWithThePublicKeyIsRefused(t *testing.T) { // G10
	for _, alg := range []string{"RS256", "ES256"} {
		n := start(t, alg)
		n.issue(t)
		kid, _ := n.header(t)["kid"].(string)
		key := n.published(t)[kid]
		der, err := x509.MarshalPKIXPublicKey(must(key.public()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		armoured := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		for _, secret := range []string{
			armoured, strings.TrimSuffix(armoured, "\n"), string(der), string(der) + "\n", string(text), string(text) + "\n",
		} {
			for _, name := range []string{"HS256", alg} {
				signed := encode(t, with(n.header(t), "alg", name)) + "." + encode(t, n.claims())
				mac := hmac.New(sha256.New, []byte(secret))
				mac.Write([]byte(signed))
				refused(t, n, signed+"."+jose.Base64.EncodeToString(mac.Sum(nil)))
			}
		}
	}
}

func TestMalformedTokensAreRefused(t *testing.T) {
	n := start(t, "ES256")
	good := n.issue(t)
	part := strings.Split(good, ".")
	nested := strings.Repeat(`{"a":`, 900) + "1" + strings.Repeat("}", 900)
	cases := map[string]string{
		"empty":                     "",
		"G02 garbage":               "garbage",
		"one dot":                   part[0] + "." + part[1],
		"four parts":                good + "." + part[2],
		"G13 a JWE of five parts":   encode(t, `{"alg":"dir","enc":"A256GCM","zip":"DEF"}`) + "..AA.AA.AA",
		"G19 dots":                  strings.Repeat(".", 15<<10),
		"G19 dots below the cap":    strings.Repeat(".", maxSize),
		"empty header":              "." + part[1] + "." + part[2],
		"empty payload":             part[0] + ".." + part[2],
		"G09 empty signature":       part[0] + "." + part[1] + ".",
		"another payload":           part[0] + "." + encode(t, n.claims()) + "." + part[2],
		"signature cut":             good[:len(good)-1],
		"signature longer":          good + "AA",
		"signature of zeros":        part[0] + "." + part[1] + "." + jose.Base64.EncodeToString(make([]byte, 64)),
		"a line break behind":       good + "\n",
		"a line break within":       part[0] + "." + part[1][:8] + "\n" + part[1][8:] + "." + part[2],
		"padding":                   part[0] + "." + part[1] + "." + part[2] + "==",
		"the other alphabet":        part[0] + "." + part[1] + "." + "+/" + part[2][2:],
		"a space in front":          " " + good,
		"NUL":                       good + "\x00",
		"not ASCII":                 "é." + part[1] + "." + part[2],
		"a JWS in JSON form":        `{"payload":"` + part[1] + `","signatures":[{"protected":"` + part[0] + `","signature":"` + part[2] + `"}]}`,
		"header no JSON":            encode(t, "x") + "." + part[1] + "." + part[2],
		"header null":               encode(t, "null") + "." + part[1] + "." + part[2],
		"header a list":             encode(t, "[]") + "." + part[1] + "." + part[2],
		"header deep":               encode(t, nested) + "." + part[1] + "." + part[2],
		"header with a tail":        encode(t, `{"typ":"at+jwt","alg":"ES256","kid":"k"} {}`) + "." + part[1] + "." + part[2],
		"header not UTF-8":          encode(t, "{\"typ\":\"at+jwt\xff\"}") + "." + part[1] + "." + part[2],
		"one byte over the cap":     strings.Repeat("a", maxSize-1) + ".a",
		"1 MB":                      strings.Repeat("a", 1<<20),
		"claims deep":               n.sign(t, nil, nested),
		"claims null":               n.sign(t, nil, "null"),
		"claims a string":           n.sign(t, nil, `"x"`),
		"claims not UTF-8":          n.sign(t, nil, "{\"sub\":\"\xff\"}"),
		"G14 an opaque token":       "Zm9v.3.dGhlIE1BQw",
		"G14 a code":                strings.Repeat("c", 43),
		"signature's spare bits on": spareBits(good),
	}
	for name, raw := range cases {
		t.Run(name, func(t *testing.T) { refused(t, n, raw) })
	}
	if _, err := n.verifier.Verify(t.Context(), good); err != nil {
		t.Error("the good one must still pass:", err)
	}
}

// spareBits sets a bit of the last character that encodes nothing: 64 bytes leave 4.
func spareBits(raw string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, raw[len(raw)-1])
	return raw[:len(raw)-1] + string(alphabet[last^1])
}

func TestTamperedClaimsAreRefused(t *testing.T) {
	n := start(t, "ES256")
	now := n.now().Unix()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	cases := map[string][]any{
		"G16 exp missing":         {"exp", nil},
		"G16 exp a string":        {"exp", "1900000000"},
		"G16 exp 1e400":           {"exp", raw("1e400")},
		"G16 exp 1e300":           {"exp", raw("1e300")},
		"G16 exp negative":        {"exp", -1},
		"G16 exp minus zero":      {"exp", raw("-0")},
		"G16 exp zero":            {"exp", 0},
		"G16 exp null":            {"exp", raw("null")},
		"G16 exp a list":          {"exp", []int64{now + 60}},
		"G16 exp true":            {"exp", true},
		"G16 nbf in two minutes":  {"nbf", now + 120},
		"nbf a string":            {"nbf", "0"},
		"nbf null":                {"nbf", raw("null")},
		"iat missing":             {"iat", nil},
		"iat a string":            {"iat", "1"},
		"iat in two minutes":      {"iat", now + 120},
		"G02 expired":             {"exp", now - 1},
		"expires this second":     {"exp", now},
		"fraction of this second": {"exp", raw("1800000000.9")},
		"iss missing":             {"iss", nil},
		"iss a list":              {"iss", []string{issuerName}},
		"iss empty":               {"iss", ""},
		"sub missing":             {"sub", nil},
		"sub empty":               {"sub", ""},
		"sub a number":            {"sub", 7},
		"jti missing":             {"jti", nil},
		"jti a number":            {"jti", 7},
		"client_id missing":       {"client_id", nil},
		"client_id null":          {"client_id", raw("null")},
		"G15 aud missing":         {"aud", nil},
		"G15 aud an empty list":   {"aud", []string{}},
		"G15 aud null":            {"aud", raw("null")},
		"G15 aud an empty string": {"aud", ""},
		"G15 aud of numbers":      {"aud", []any{"a", 1}},
		"G15 aud of null":         {"aud", []any{nil}},
		"G15 aud an object":       {"aud", map[string]string{"a": "b"}},
		"scope a list":            {"scope", []string{"read"}},
		"fam a number":            {"fam", 1},
	}
	for name, pairs := range cases {
		t.Run(name, func(t *testing.T) { refused(t, n, n.sign(t, nil, with(n.claims(), pairs...))) })
	}
}

func TestUnusualButLegalTokensPass(t *testing.T) {
	n := start(t, "ES256")
	now := n.now().Unix()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	cases := map[string][]any{
		"G16 fractional exp":     {"exp", raw("1800000060.5")},
		"exp with exponent":      {"exp", raw("1.80000006e9")},
		"G16 nbf in 8 seconds":   {"nbf", now + 8},
		"nbf and iat at leeway":  {"nbf", now + 60, "iat", now + 60},
		"G15 aud a list":         {"aud", []string{"other", "https://api.example.org"}},
		"no scope":               {"scope", nil},
		"unknown members":        {"roles", []string{"x"}},
		"G15 foreign issuer":     {"iss", "https://elsewhere.example.org"}, // the guard's business
		"line break in the sub":  {"sub", "a\r\nX-Admin: 1"},               // likewise
		"a duplicate, last wins": {"sub", "alice"},
	}
	for name, pairs := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := n.verifier.Verify(t.Context(), n.sign(t, nil, with(n.claims(), pairs...))); err != nil {
				t.Error(err)
			}
		})
	}
	header := with(n.header(t), "typ", "Application/AT+JWT")
	if _, err := n.verifier.Verify(t.Context(), n.sign(t, header, n.claims())); err != nil {
		t.Error("typ as a full media type:", err)
	}
	twice := strings.Replace(string(must(json.Marshal(n.claims()))), "{", `{"sub":"mallory",`, 1)
	a, err := n.verifier.Verify(t.Context(), n.sign(t, nil, twice))
	if err != nil || a.Subject != "alice" {
		t.Errorf("of duplicate members the last counts: %v, %v", a, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestExpiredForgeryIsReportedAsAForgery(t *testing.T) { // golang-jwt CVE-2024-51744
	n := start(t, "ES256")
	good := n.sign(t, nil, with(n.claims(), "exp", n.now().Unix()-10))
	forged := good[:strings.LastIndexByte(good, '.')+1] + jose.Base64.EncodeToString(make([]byte, 64))
	if _, err := n.verifier.Verify(t.Context(), forged); !errors.Is(err, errSignature) {
		t.Errorf("Verify = %v, want the signature as the reason", err)
	}
}
