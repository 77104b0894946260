package keyring

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"fmt"
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
		if got[0] == 0 || got[32] == 0 {
			short++
		}
	}
	if short == 0 {
		t.Error("no signature with a short number was seen")
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
}
