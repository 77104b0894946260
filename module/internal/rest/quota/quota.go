package quota

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// writeTime is how long the store has to count: the client waits for it.
const writeTime = 5 * time.Second

// countUnits counts up to n more units and says how many fit. When none does, wait is how long
// until one may.
func countUnits(before map[int64]int, n, most int, keep time.Duration, now time.Time) (after map[int64]int, granted int, wait time.Duration) {
	hour := now.Unix() / 3600
	// What was counted in an hour is kept until keep after its end at the latest.
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
// bound a newcomer begins with one unit at a time, and takes the place of whom that costs the least:
// what is left of a forfeited reservation counts as used, so the tally is never too low.
const owners = 10_000

// Quota counts units in the store, such as keys, or room that records take. It reserves a few at a time, so that not
// each costs a write. It is safe for concurrent use.
type Quota struct {
	config Config
	owners int

	mu   sync.Mutex
	held map[string]*reservation
}

// Config is a quota's. All is required.
type Config struct {
	Store store.Backend
	Now   func() time.Time
	// Keep is how long a unit counts, which is rounded up to an hour.
	Keep time.Duration
}

type reservation struct {
	turn chan struct{} // holds one while somebody asks the store
	next int           // how many units to reserve next
	left int
	hour int64 // in which it was counted
}

// New returns a quota.
func New(c Config) *Quota {
	return &Quota{config: c, owners: owners, held: make(map[string]*reservation)}
}

// Take counts n units in each of some accounts, or in none if they do not fit: then wait is how long until some may.
func (q *Quota) Take(ctx context.Context, n int, from ...Account) (wait time.Duration, err error) {
	for i, a := range from {
		if wait, err = q.take(ctx, a, n); wait > 0 || err != nil {
			q.GiveBack(n, from[:i]...)
			return wait, err
		}
	}
	return 0, nil
}

// GiveBack is for units that were not used, such as a key of which no record is left, or of which there was one before.
func (q *Quota) GiveBack(n int, to ...Account) {
	q.mu.Lock()
	defer q.mu.Unlock()
	hour := q.config.Now().Unix() / 3600
	for _, a := range to {
		if r := q.held[a.owner]; r != nil && r.hour == hour {
			r.left += n
		}
	}
}

func (q *Quota) take(ctx context.Context, a Account, n int) (wait time.Duration, err error) {
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
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

func (q *Quota) use(r *reservation, hour int64, n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.left < n || r.hour != hour {
		return false
	}
	r.left -= n
	return true
}

func (q *Quota) of(owner string) *reservation {
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
	// mostAhead is how many units are, unless more are asked for, reserved at a time.
	mostAhead = 16
	// examined is how many reservations compete for being forfeited.
	examined = 16
)

// cheapest returns the owner of the reservation, of a few that the map yields in random order, with the least left.
func (q *Quota) cheapest() (owner string) {
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

// reserve counts up to n more units in the store, and returns how many. When there is room for none,
// wait is how long until there may be.
func (q *Quota) reserve(ctx context.Context, a Account, n int) (granted int, wait time.Duration, err error) {
	var t store.KeyTally
	_, err = store.Change(ctx, q.config.Store, store.Record{Key: store.Key{Kind: store.KindKeyTally, ID: a.owner}}, &t, func(r *store.Record) (bool, error) {
		now := q.config.Now()
		r.Expires = now.Add(q.config.Keep + time.Hour)
		t.Hours, granted, wait = countUnits(t.Hours, n, a.most, q.config.Keep, now)
		return granted > 0, nil
	})
	return granted, wait, err
}
