package ratelimit

import "crypto/sha256"

// Salt chooses the buckets of a source that several nodes share. It is secret: a client who
// knows it can compute which subjects share the bucket of another client, and fill that. So it
// MUST be random.
type Salt [16]byte

// SharedBuckets is how many buckets a Salt chooses from.
const SharedBuckets = 1 << 16

// Bucket is the number of a subject's bucket, the same for every process with this Salt.
func (s Salt) Bucket(subject string) uint16 {
	var room [len(s) + longestSubject + 1]byte
	sum := sha256.Sum256(append(append(room[:0], s[:]...), subject...))
	return uint16(sum[0])<<8 | uint16(sum[1])
}
