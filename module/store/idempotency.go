package store

import "time"

// Idempotency is a request that a client may repeat. It expires when the key is forgotten.
type Idempotency struct {
	schema
	// Digest is that of the request, keyed with the client's key.
	Digest  string    `json:"digest"`
	State   string    `json:"state"` // begun, kept, known, lost
	Attempt string    `json:"attempt"`
	Lease   time.Time `json:"lease"`
	Status  int       `json:"status,omitempty"`
	// Answer is sealed with the client's key, which is not stored.
	Answer []byte `json:"answer,omitempty"`
}

// KeyTally counts the keys of one client, or the KiB that its kept answers or finished jobs take.
type KeyTally struct {
	schema
	Hours map[int64]int `json:"hours"` // hour since 1970 -> keys begun in it, or KiB kept
}
