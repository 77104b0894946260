package ratelimit

import (
	"crypto/sha256"
	"encoding/base64"
)

const longestSubject = 43

// Subject is the form in which a subject is kept: as it is up to 43 bytes, else its
// SHA-256, so that clients do not choose how much memory a key takes. The hashed
// form is longer than 43 bytes, so the two cannot meet.
func Subject(s string) string {
	if len(s) <= longestSubject {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "=" + base64.RawURLEncoding.EncodeToString(sum[:])
}
