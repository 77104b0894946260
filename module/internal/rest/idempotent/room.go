package idempotent

import "context"

const (
	// unit is what room is counted in. Answers of at most one unit do not count: the number of keys bounds them.
	unit = 1 << 10
	// unitsPerKey is how many units there are for each key that a client may use.
	unitsPerKey = 4
)

// takeRoom counts the room that an answer takes in the store, and reports whether there is enough. Otherwise a single
// client could fill the store with large answers, and nobody could sign in any more.
//
// If it cannot be counted because of a fault, there is enough: who caused the fault is not known, and the client should
// get its answer.
func (k *Keeper) takeRoom(ctx context.Context, key Key, size int) bool {
	if size <= unit {
		return true
	}
	n := (size + unit - 1) / unit
	accounts := key.rooms(k.config.Max * unitsPerKey)
	for i, a := range accounts {
		wait, err := k.room.takeUnits(ctx, a, n)
		if err != nil {
			return true
		}
		if wait > 0 {
			for _, counted := range accounts[:i] {
				k.room.giveBack(counted.owner, n)
			}
			return false
		}
	}
	return true
}
