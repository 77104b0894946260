package store

import "time"

// Move says that the records of another store are being copied into this one. It is stored under [MoveKey] until all are
// there and checked; no gateway uses the store until then.
type Move struct {
	schema
	// From names the other store: a host and a path.
	From  string    `json:"from"`
	Begun time.Time `json:"begun"`
}

// MoveKey is where the move into a store is kept.
func MoveKey() Key { return Key{Kind: KindMove, ID: "to"} }
