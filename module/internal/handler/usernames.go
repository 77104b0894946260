package handler

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
)

const (
	// nameTimeout is how long a request waits for the name of its user, on which no decision
	// depends.
	nameTimeout = time.Second
	// slowFault is how long a failed lookup must take for later requests to skip theirs.
	slowFault = 100 * time.Millisecond
	// namePause is how long lookups are skipped after a slow failure. Then one request tries
	// again.
	namePause = 5 * time.Second
)

// UserNames looks up the names of users for requests to APIs. A directory that does not respond
// must not delay these, because tokens are verified without it. It is safe for concurrent use.
type UserNames struct {
	users       directory.Directory
	now         func() time.Time
	pausedUntil atomic.Int64 // in nanoseconds since the epoch; 0 while the directory answers
}

// NewUserNames returns one for a directory.
func NewUserNames(users directory.Directory) *UserNames {
	return &UserNames{users: users, now: time.Now}
}

// name returns the name of a user, or "" if the user has none or the directory does not respond.
func (n *UserNames) name(ctx context.Context, subject string) string {
	begun := n.now()
	if until := n.pausedUntil.Load(); until != 0 {
		again := begun.Add(nameTimeout + namePause).UnixNano()
		if begun.UnixNano() < until || !n.pausedUntil.CompareAndSwap(until, again) {
			return ""
		}
	}
	bounded, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	user, _, err := n.users.Lookup(bounded, subject)
	switch took := n.now().Sub(begun); {
	case err == nil:
		n.pausedUntil.Store(0)
		return user.Name
	case ctx.Err() != nil: // the client has gone
	case took >= slowFault:
		n.pausedUntil.Store(begun.Add(took + namePause).UnixNano())
	}
	return ""
}
