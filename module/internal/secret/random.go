package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
)

// Bytes returns n random bytes from the operating system. It never fails: crypto/rand ends the process if the system
// cannot provide randomness.
func Bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// Token returns 256 random bits in URL-safe base64, 43 characters long.
func Token() string { return base64.RawURLEncoding.EncodeToString(Bytes(32)) }

// IsToken reports whether a string has the form of a [Token]. Other strings need not be looked up.
func IsToken(s string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(raw) == 32
}

// ID returns 128 random bits in URL-safe base64, 22 characters long. It is for identifiers that must not collide or
// be guessed, but are not credentials.
func ID() string { return base64.RawURLEncoding.EncodeToString(Bytes(16)) }

// Equal compares in time that depends only on the lengths.
func Equal(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

// Sum is the SHA-256 of a use and any number of parts. No two lists of parts have the same sum.
func Sum(use string, parts ...[]byte) []byte {
	sum := sha256.New()
	_, _ = sum.Write([]byte(use + "\x00"))
	for _, p := range parts {
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		_, _ = sum.Write(p)
	}
	return sum.Sum(nil)
}

// Digest returns the hexadecimal SHA-256 of a value with at least 128 random bits: the form in which codes, session
// IDs and client secrets are stored and looked up. It is not for passwords.
func Digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}
