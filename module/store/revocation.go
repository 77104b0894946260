package store

import "time"

// RevocationOf says what a revocation takes back.
type RevocationOf string

// What can be revoked.
const (
	RevokeGrant   RevocationOf = "grant"   // every token of a family
	RevokeToken   RevocationOf = "token"   // one access token, by its jti
	RevokeSubject RevocationOf = "subject" // every token of a user issued until At
	RevokeClient  RevocationOf = "client"  // every token of a client issued until At
	RevokeKey     RevocationOf = "key"     // every token signed by a key
)

// Revocation is a notice to every guard. It is created once, never swapped, under
// the ID that [Revocation.Key] gives, and expires when the last token it can
// concern has.
type Revocation struct {
	schema
	Of    RevocationOf `json:"of"`
	Value string       `json:"value"`
	At    time.Time    `json:"at"`
}

// RevocationParent is the parent of all revocations.
const RevocationParent = "all"
