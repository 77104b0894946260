package store

import (
	"strconv"
	"time"
)

// RevocationOf says what a revocation takes back.
type RevocationOf string

// What can be revoked.
const (
	RevokeGrant   RevocationOf = "grant"          // every token of a family
	RevokeToken   RevocationOf = "token"          // one access token, by its jti
	RevokeSubject RevocationOf = "subject"        // every token of a user of an epoch below Epoch
	RevokePair    RevocationOf = "subject_client" // every token of a user at one client, below Epoch; the value is a [PairID]
	RevokeClient  RevocationOf = "client"         // every token of a client issued until At
	RevokeKey     RevocationOf = "key"            // every token signed by a key
)

// Revocation is a notice to every guard. It is created once, never swapped, under the ID that [Revocation.Key] gives,
// and expires when the last token it can concern has. If it has to be kept longer, another one is created under
// [Revocation.KeyUntil].
type Revocation struct {
	schema
	Of    RevocationOf `json:"of"`
	Value string       `json:"value"`
	At    time.Time    `json:"at"`
	// Epoch is that of a user or pair that was ended. A notice about a user without one is
	// of an earlier release and concerns the tokens issued until At.
	Epoch int64 `json:"epoch,omitempty"`
	// Client is whose tokens it concerns, "" if that is unknown or follows from Of.
	Client string `json:"client,omitempty"`
}

// RevocationParent is the parent of all revocations.
const RevocationParent = "all"

// Key is where the revocation is stored. The value goes in as a hash, since values
// come from outside and keys have a limit. What counts only until a moment or an epoch
// has that in its key: a user locked again later needs another notice.
func (r Revocation) Key() Key {
	id := string(r.Of) + ":" + digest(r.Value)
	switch {
	case r.Epoch != 0:
		id += ":" + strconv.FormatInt(r.Epoch, 10)
	case r.Of == RevokeSubject || r.Of == RevokeClient:
		id += ":" + strconv.FormatInt(r.At.Unix(), 10)
	}
	return Key{Kind: KindRevocation, ID: id}
}

// KeyUntil is where a notice is stored that repeats the one under Key, because that one expires before this second.
func (r Revocation) KeyUntil(expires time.Time) Key {
	k := r.Key()
	k.ID += ":until:" + strconv.FormatInt(expires.Unix(), 10)
	return k
}
