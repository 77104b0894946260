package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// ValidChallenge reports whether s can be an S256 code challenge: the unpadded
// base64url form of 32 bytes (RFC 7636 section 4.2).
func ValidChallenge(s string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(raw) == sha256.Size && len(s) == 43
}

// ValidVerifier reports whether s has the form of RFC 7636 section 4.1: 43 to 128 unreserved characters.
func ValidVerifier(s string) bool {
	if len(s) < 43 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '-', c == '.', c == '_', c == '~':
		default:
			return false
		}
	}
	return true
}

// Challenge returns the S256 challenge of a verifier.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// CheckPKCE reports whether the verifier of a token request matches the challenge, or there is neither. A verifier
// without a challenge is refused, which prevents a downgrade by removing the challenge (RFC 9700 section 4.8.2).
func CheckPKCE(challenge, verifier string) bool {
	if challenge == "" {
		return verifier == ""
	}
	return ValidVerifier(verifier) &&
		subtle.ConstantTimeCompare([]byte(Challenge(verifier)), []byte(challenge)) == 1
}
