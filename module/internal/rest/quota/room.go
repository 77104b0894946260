package quota

import "context"

// Room bounds how much room kept answers take in the store. Otherwise a single client could fill it with large
// ones, and nobody could sign in any more.
type Room struct {
	quota *Quota
	use   string
}

const (
	// kib is what room is counted in.
	kib = 1 << 10
	// room is how many KiB a client may have, or all callers without a token together.
	room = 40_000
)

// NewRoom returns the room for what use says.
func NewRoom(use string, c Config) *Room { return &Room{New(c), use} }

// Take counts size bytes for a caller, and reports whether there is room for them.
//
// If they cannot be counted because of a fault, there is: who caused the fault is not known, and the client should
// get its answer.
func (r *Room) Take(ctx context.Context, client, share string, size int) bool {
	wait, err := r.quota.Take(ctx, (size+kib-1)/kib, Accounts(r.use, client, share, room)...)
	return wait == 0 || err != nil
}
