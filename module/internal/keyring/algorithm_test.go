package keyring

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// RFC 6979 appendix A.2.5.
func TestES256SignaturesAreDeterministic(t *testing.T) {
	const (
		private   = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"
		signature = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716" +
			"f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
	)
	raw, err := hex.DecodeString(private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		t.Fatal(err)
	}
	got, err := algorithms["ES256"].method.Sign("sample", key)
	if err != nil || hex.EncodeToString(got) != signature {
		t.Errorf("%x %v, want %s", got, err, signature)
	}
}

// One number in 256 has a zero in front, which DER leaves out.
func TestES256SignaturesHaveOneLengthAndVerify(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	short := 0
	for i := range 2000 {
		text := fmt.Sprint("text ", i)
		got, err := algorithms["ES256"].method.Sign(text, key)
		if err != nil || len(got) != 64 {
			t.Fatalf("%x %v", got, err)
		}
		if err := jwt.SigningMethodES256.Verify(text, got, &key.PublicKey); err != nil {
			t.Errorf("%s: %x %v", text, got, err)
		}
		if err := algorithms["ES256"].method.Verify(text, got, &key.PublicKey); err != nil {
			t.Errorf("%s: %x is refused: %v", text, got, err)
		}
		if got[0] == 0 || got[32] == 0 {
			short++
		}
	}
	if short == 0 {
		t.Error("no signature with a short number was seen")
	}
}

// What is not the signature of the text by the key is refused, whatever its numbers are.
func TestES256RefusesOtherSignatures(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	verifies := algorithms["ES256"].method.Verify
	good, err := algorithms["ES256"].method.Sign("text", key)
	if err != nil || verifies("text", good, &key.PublicKey) != nil {
		t.Fatal(err)
	}
	order, zero := elliptic.P256().Params().N.Bytes(), make([]byte, 32)
	most := bytes.Repeat([]byte{0xff}, 32)
	for name, signature := range map[string][]byte{
		"none":              nil,
		"too short":         good[:63],
		"too long":          append(slices.Clone(good), 0),
		"zeros":             make([]byte, 64),
		"r is zero":         slices.Concat(zero, good[32:]),
		"s is zero":         slices.Concat(good[:32], zero),
		"r is the order":    slices.Concat(order, good[32:]),
		"s is the order":    slices.Concat(good[:32], order),
		"the largest":       slices.Concat(most, most),
		"exchanged numbers": slices.Concat(good[32:], good[:32]),
	} {
		if verifies("text", signature, &key.PublicKey) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for i := range good {
		changed := slices.Clone(good)
		changed[i] ^= 1
		if verifies("text", changed, &key.PublicKey) == nil {
			t.Errorf("accepted with another byte %d", i)
		}
	}
	if verifies("Text", good, &key.PublicKey) == nil {
		t.Error("accepted for another text")
	}
}

func BenchmarkES256Verify(b *testing.B) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("x", 500)
	signature, err := algorithms["ES256"].method.Sign(text, key)
	if err != nil {
		b.Fatal(err)
	}
	for name, method := range map[string]jwt.SigningMethod{"jwt": jwt.SigningMethodES256, "ours": algorithms["ES256"].method} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := method.Verify(text, signature, &key.PublicKey); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestES256RefusesOtherKeys(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, jose.MinRSABits)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []any{other, long, nil} {
		if got, err := algorithms["ES256"].method.Sign("text", key); err == nil || !bytes.Equal(got, nil) {
			t.Errorf("%T: %x %v", key, got, err)
		}
	}
	signature := make([]byte, 64)
	for _, key := range []any{&other.PublicKey, &long.PublicKey, nil} {
		if err := algorithms["ES256"].method.Verify("text", signature, key); !errors.Is(err, errNotP256) {
			t.Errorf("%T: %v", key, err)
		}
	}
}
