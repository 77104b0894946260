package ratelimit

import (
	"crypto/sha256"
	"encoding/base64"
)

const longestSubject = 43

// Subject returns the stored form of a subject: unchanged up to 43 bytes, else its
// SHA-256, so that clients do not choose how much memory a key takes. The hashed
// form is longer than 43 bytes, so the two cannot collide.
func Subject(s string) string {
	if len(s) <= longestSubject {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "=" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// Salt chooses the buckets of a source that several nodes share. It MUST be random and secret: a
// client who knows it can compute which subjects share the bucket of another client, and fill it.
type Salt [16]byte

// SharedBuckets is how many buckets a Salt chooses from.
const SharedBuckets = 1 << 16

// Bucket returns the number of a subject's bucket, the same for every process with this Salt.
func (s Salt) Bucket(subject string) uint16 {
	var room [len(s) + longestSubject + 1]byte
	sum := sha256.Sum256(append(append(room[:0], s[:]...), subject...))
	return uint16(sum[0])<<8 | uint16(sum[1])
}
