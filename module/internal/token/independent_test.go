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

// The tokens are checked by nothing but the published keys and crypto's primitives, as somebody else's resource
// server would.
func TestTokensVerifyWithThePublishedKeysAlone(t *testing.T) {
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
