package idempotent

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/store"
)

// countKeys counts up to n more keys and says how many fit. When none does, wait is how long
// until one may.
func countKeys(before map[int64]int, n, most int, keep time.Duration, now time.Time) (after map[int64]int, granted int, wait time.Duration) {
	hour := now.Unix() / 3600
	// A key of an hour is remembered until keep after its end at the latest.
	first := now.Add(-keep).Unix() / 3600
	after = make(map[int64]int, len(before)+1)
	used, oldest := 0, hour
	for h, c := range before {
		if h >= first {
			after[h], used, oldest = c, used+c, min(oldest, h)
		}
	}
	granted = max(min(n, most-used), 0)
	if granted == 0 {
		return before, 0, max(time.Unix((oldest+1)*3600, 0).Add(keep).Sub(now), time.Second)
	}
	after[hour] += granted
	return after, granted, 0
}

// owners is how many clients, users and networks a node keeps reservations for at most. At the
// bound a newcomer begins with one key at a time, and takes the place of whom that costs the least:
// what is left of a forfeited reservation counts as used, so the tally is never too low.
const owners = 10_000

// quota reserves keys of a client a few at a time, so that not each costs a write of the
// tally.
type quota struct {
	config Config
	owners int

	mu   sync.Mutex
	held map[string]*reservation
}

type reservation struct {
	turn chan struct{} // holds one while somebody asks the store
	next int           // how many keys to reserve next
	left int
	hour int64 // in which it was counted
}

func newQuota(c Config) *quota {
	return &quota{config: c, owners: owners, held: make(map[string]*reservation)}
}

// take counts one key.
func (q *quota) take(ctx context.Context, a account) (*envelope.Refusal, error) {
	wait, err := q.takeUnits(ctx, a, 1)
	if err != nil || wait == 0 {
		return nil, err
	}
	return &envelope.Refusal{
		Status: http.StatusTooManyRequests, Field: Header, Message: "too many keys were used: Retry-After says when there is room for another",
		Header: http.Header{"Retry-After": {strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)}},
	}, nil
}

// takeUnits counts n units, or none of them if they do not fit: then wait is how long until some may.
func (q *quota) takeUnits(ctx context.Context, a account, n int) (wait time.Duration, err error) {
	r := q.of(a.owner)
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-r.turn }()
	hour := q.config.Now().Unix() / 3600
	if q.use(r, hour, n) {
		return 0, nil
	}
	// If nobody waited for the reply, the reserved units would be lost, and a user who keeps leaving could use up all those
	// of the client.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	granted, wait, err := q.reserve(ctx, a, max(n, min(r.next, a.most/64)))
	if err != nil || granted == 0 {
		return wait, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.hour != hour {
		r.left, r.hour = 0, hour
	}
	r.left, r.next = r.left+granted, min(mostAhead, 2*r.next)
	if r.left < n {
		return time.Second, nil // less was granted than was asked for: nothing is left in the store
	}
	r.left -= n
	return 0, nil
}

func (q *quota) use(r *reservation, hour int64, n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.left < n || r.hour != hour {
		return false
	}
	r.left -= n
	return true
}

// giveBack is for units that were not used, such as a key of which no record is left, or of which there was one before.
func (q *quota) giveBack(owner string, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.held[owner]; r != nil && r.hour == q.config.Now().Unix()/3600 {
		r.left += n
	}
}

func (q *quota) of(owner string) *reservation {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.held[owner]
	if r == nil {
		next := mostAhead
		if len(q.held) >= q.owners {
			delete(q.held, q.cheapest())
			next = 1
		}
		r = &reservation{turn: make(chan struct{}, 1), next: next}
		q.held[owner] = r
	}
	return r
}

const (
	// mostAhead is how many keys are reserved at a time.
	mostAhead = 16
	// examined is how many reservations compete for being forfeited.
	examined = 16
)

// cheapest returns the owner of the reservation, of a few that the map yields in random order, with the least left.
func (q *quota) cheapest() (owner string) {
	hour, least, n := q.config.Now().Unix()/3600, -1, 0
	for other, r := range q.held {
		left := r.left
		if r.hour != hour {
			left = 0
		}
		if least < 0 || left < least {
			owner, least = other, left
		}
		if n++; n == examined {
			break
		}
	}
	return owner
}

// reserve counts up to n more keys in the store, and returns how many. When there is room for none,
// wait is how long until there may be.
func (q *quota) reserve(ctx context.Context, a account, n int) (granted int, wait time.Duration, err error) {
	var t store.KeyTally
	_, err = store.Change(ctx, q.config.Store, store.Record{Key: store.Key{Kind: store.KindKeyTally, ID: a.owner}}, &t, func(r *store.Record) (bool, error) {
		now := q.config.Now()
		r.Expires = now.Add(q.config.Keep + time.Hour)
		t.Hours, granted, wait = countKeys(t.Hours, n, a.most, q.config.Keep, now)
		return granted > 0, nil
	})
	return granted, wait, err
}
