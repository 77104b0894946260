package quota

import "context"

// Room bounds how much of the store a client takes with what is kept for it. Otherwise a single client could fill the
// store, and nobody could sign in any more.
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

// NewRoom returns the room of each client for one use.
func NewRoom(use string, c Config) *Room { return &Room{New(c), use} }

// Take counts size bytes for a caller, and reports whether there is room for them.
//
// If a fault prevents counting, there is: who caused the fault is not known, and the client should
// get its answer.
func (r *Room) Take(ctx context.Context, client, share string, size int) bool {
	wait, err := r.quota.Take(ctx, (size+kib-1)/kib, Accounts(r.use, client, share, room)...)
	return wait == 0 || err != nil
}
