package keyring

import (
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

func TestThumbprintsFollowTheRFCs(t *testing.T) {
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
	ring, _ := newRing(t)
	key, err := ring.Signer(t.Context(), "RS256")
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) []byte {
		raw, err := jose.Base64.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for name, spoil := range map[string]func(*jwk){
		"1024 bits":        func(k *jwk) { k.N = jose.Base64.EncodeToString(number(k.N)[:128]) },
		"exponent 1":       func(k *jwk) { k.E = "AQ" },
		"exponent huge":    func(k *jwk) { k.E = "AQAAAAAAAAAB" },
		"leading zero":     func(k *jwk) { k.N = jose.Base64.EncodeToString(append([]byte{0}, number(k.N)...)) },
		"another use":      func(k *jwk) { k.Use = "enc" },
		"symmetric":        func(k *jwk) { k.Kty, k.Alg = "oct", "HS256" },
		"type and alg":     func(k *jwk) { k.Kty = "EC" },
		"members of an EC": func(k *jwk) { k.X = "AA" },
		"no base64":        func(k *jwk) { k.N = "=" },
	} {
		k := key.Public
		spoil(&k)
		k.Kid = k.thumbprint()
		if _, err := k.public(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
