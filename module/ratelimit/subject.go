package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
)

const longestSubject = 64

// Subject is the form in which a subject is kept: as it is up to 64 bytes, else its
// SHA-256, so that clients do not choose how much memory a key takes. The hashed
// form is longer than 64 bytes, so the two cannot meet.
func Subject(s string) string {
	if len(s) <= longestSubject {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}
