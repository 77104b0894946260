package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

// The tokens are checked by nothing but the published keys and crypto's primitives,
// as somebody else's resource server would.
func TestAStrangerCanVerifyFromThePublishedKeys(t *testing.T) {
	number := func(s string) []byte {
		t.Helper()
		raw, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, alg := range []string{"ES256", "RS256", "EdDSA"} {
		n := start(t, alg)
		set, err := n.issuer.PublicKeys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		raw := n.issue(t)
		var published struct{ Keys []map[string]string }
		if err := json.Unmarshal(set.JSON, &published); err != nil {
			t.Fatal(err)
		}
		part := strings.Split(raw, ".")
		var header map[string]string
		if err := json.Unmarshal(number(part[0]), &header); err != nil {
			t.Fatal(err)
		}
		k := published.Keys[0]
		if k["kid"] != header["kid"] || k["alg"] != alg || header["alg"] != alg {
			t.Fatalf("key %v, header %v", k, header)
		}
		signed, signature := part[0]+"."+part[1], number(part[2])
		digest := sha256.Sum256([]byte(signed))
		good := false
		switch alg {
		case "ES256":
			public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, number(k["x"])...), number(k["y"])...))
			if err != nil {
				t.Fatal(err)
			}
			r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
			good = len(signature) == 64 && ecdsa.Verify(public, digest[:], r, s)
		case "RS256":
			public := &rsa.PublicKey{N: new(big.Int).SetBytes(number(k["n"])), E: int(new(big.Int).SetBytes(number(k["e"])).Int64())}
			good = rsa.VerifyPKCS1v15(public, crypto.SHA256, digest[:], signature) == nil
		case "EdDSA":
			good = ed25519.Verify(number(k["x"]), []byte(signed), signature)
		}
		if !good {
			t.Errorf("%s: the signature does not fit the published key", alg)
		}
	}
}

func TestThumbprintsAreThoseOfTheStandards(t *testing.T) {
	rsaKey := jwk{Kty: "RSA", E: "AQAB", N: "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}
	edKey := jwk{Kty: "OKP", Crv: "Ed25519", X: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
	for want, k := range map[string]jwk{
		"NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs": rsaKey, // RFC 7638 section 3.1
		"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k": edKey,  // RFC 8037 appendix A.3
	} {
		if got := k.thumbprint(); got != want {
			t.Errorf("thumbprint %s, want %s", got, want)
		}
	}
}

func TestWeakOrForeignPublicKeysAreRefused(t *testing.T) {
	n := start(t, "RS256")
	key, _, err := n.ring.signer(t.Context(), "RS256")
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*jwk){
		"1024 bits":        func(k *jwk) { k.N = b64.EncodeToString(must(b64.DecodeString(k.N))[:128]) },
		"exponent 1":       func(k *jwk) { k.E = "AQ" },
		"exponent huge":    func(k *jwk) { k.E = "AQAAAAAAAAAB" },
		"leading zero":     func(k *jwk) { k.N = b64.EncodeToString(append([]byte{0}, must(b64.DecodeString(k.N))...)) },
		"another use":      func(k *jwk) { k.Use = "enc" },
		"symmetric":        func(k *jwk) { k.Kty, k.Alg = "oct", "HS256" },
		"type and alg":     func(k *jwk) { k.Kty = "EC" },
		"members of an EC": func(k *jwk) { k.X = "AA" },
		"no base64":        func(k *jwk) { k.N = "=" },
	} {
		k := key.jwk
		spoil(&k)
		k.Kid = k.thumbprint()
		if _, err := k.public(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
