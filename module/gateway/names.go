package gateway

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
)

const (
	// namePatience is how long a request waits for the name of its user. A name decorates, and
	// nothing is decided by it.
	namePatience = time.Second
	// nameSlow is from when on a fault has cost too much for the next request to meet it too.
	nameSlow = 100 * time.Millisecond
	// nameRest is how long nobody asks a directory after such a fault. Then one request does.
	nameRest = 5 * time.Second
)

// names looks up what users are called, for requests to APIs. A directory that does not answer
// must not hold those up: tokens are judged without it. It is safe for concurrent use.
type names struct {
	users directory.Directory
	now   func() time.Time
	rests atomic.Int64 // until when nobody asks, in nanoseconds since the epoch; 0: it answers
}

func newNames(users directory.Directory) *names { return &names{users: users, now: time.Now} }

// of is the name of a user, "" if there is none or it cannot be told now.
func (n *names) of(ctx context.Context, subject string) string {
	begun := n.now()
	if until := n.rests.Load(); until != 0 {
		again := begun.Add(namePatience + nameRest).UnixNano()
		if begun.UnixNano() < until || !n.rests.CompareAndSwap(until, again) {
			return ""
		}
	}
	bounded, cancel := context.WithTimeout(ctx, namePatience)
	defer cancel()
	user, _, err := n.users.Lookup(bounded, subject)
	switch took := n.now().Sub(begun); {
	case err == nil:
		n.rests.Store(0)
		return user.Name
	case ctx.Err() != nil: // the client has gone
	case took >= nameSlow:
		n.rests.Store(begun.Add(took + nameRest).UnixNano())
	}
	return ""
}
