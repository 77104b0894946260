package store

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Epochs say how much of what was ended a session, code, grant or token has seen. An epoch is a number that every end
// of a user or of a user-and-client pair increases; what carries a smaller one than the record of the end is dead.
// Zero: issued before any end, or by an earlier release.
type Epochs struct {
	// Subject is the last epoch when the sign-in began, before the password was checked.
	Subject int64 `json:"sub,omitempty"`
	// Pair is that of the user at the client before the permission was looked at.
	Pair int64 `json:"pair,omitempty"`
}

// EpochCounter is the last epoch that was given out, stored under [EpochCounterKey]. It never expires.
type EpochCounter struct {
	schema
	Last int64 `json:"last"`
}

// EpochCounterKey is where the counter is stored.
func EpochCounterKey() Key { return Key{Kind: KindEnding, ID: "counter"} }

// Ended says that a user was ended: sessions, codes, grants and access tokens of an epoch
// below Epoch are dead, whether they are still stored or not.
type Ended struct {
	schema
	Subject string    `json:"sub"`
	Epoch   int64     `json:"epoch"`
	At      time.Time `json:"at"`
}

// EndedKey is where the end of a user is stored. Subjects go in as a digest, since keys have a limit.
func EndedKey(subject string) Key {
	return Key{Kind: KindEnding, ID: "subject:" + digest(subject)}
}

// Pair is what one user and one client have together. It is stored under [PairKey] with the user as parent. There is none
// for a user with few grants, unless the pair was ended.
type Pair struct {
	schema
	Client  string `json:"client"`
	Subject string `json:"sub"`
	// Epoch is that of the last end of the pair, 0 for none.
	Epoch int64 `json:"epoch,omitempty"`
	// Grants are the live ones as far as Listed says, at most as many as the configuration allows. It is not certain
	// that all of these live.
	Grants []PairGrant `json:"grants,omitempty"`
	Listed PairListing `json:"listed,omitempty"`
}

// PairListing says which grants of a [Pair] it lists.
type PairListing int

// The extents of the list. Each has what those before it have.
const (
	// ListsSome: none while the user has few grants, and those that earlier releases listed.
	ListsSome PairListing = iota
	// ListsNew: every grant that began since, but not all from before.
	ListsNew
	// ListsAll: every grant.
	ListsAll
)

// PairGrant is one grant of a [Pair].
type PairGrant struct {
	ID string `json:"id"`
	// Epoch is the grant's [Epochs.Subject].
	Epoch int64 `json:"epoch,omitempty"`
	// Used is when the grant was used last, or earlier: refreshes do not write it.
	Used    time.Time `json:"used"`
	Expires time.Time `json:"exp"`
}

// PairID names a pair of client and user.
func PairID(client, subject string) string { return digest(client + "\x00" + subject) }

// PairKey is where a pair is stored.
func PairKey(client, subject string) Key {
	return Key{Kind: KindPair, ID: PairID(client, subject)}
}

// Sweep is the clean-up after an end: the dead records of a user that are to be deleted,
// and how far that has come. It is stored under [SweepKey] with [SweepParent] as parent.
type Sweep struct {
	schema
	Subject string    `json:"sub"`
	Begun   time.Time `json:"begun"`
	// Late says that this pass began so long after Begun that it is the last one.
	Late bool `json:"late,omitempty"`
	// Kind and After are the kind of records and the ID up to which it is done.
	Kind  Kind   `json:"kind,omitempty"`
	After string `json:"after,omitempty"`
	// Deleted counts the records deleted so far.
	Deleted int `json:"deleted,omitempty"`
	// Lease is until when a node works on it, so that others need not.
	Lease time.Time `json:"lease,omitzero"`
}

// SweepParent is the parent of all sweeps.
const SweepParent = "all"

// SweepKey is where the sweep of a user is stored.
func SweepKey(subject string) Key { return Key{Kind: KindSweep, ID: digest(subject)} }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
