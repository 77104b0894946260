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
// bound another's reservation is forfeited: it counts as used, so the tally is never too low.
const owners = 10_000

// quota reserves keys of a client a few at a time, so that not each costs a write of the
// tally.
type quota struct {
	config Config

	mu   sync.Mutex
	held map[string]*reservation
}

type reservation struct {
	turn chan struct{} // holds one while somebody asks the store
	left int
	hour int64 // in which it was counted
}

func newQuota(c Config) *quota {
	return &quota{config: c, held: make(map[string]*reservation)}
}

// take counts one key.
func (q *quota) take(ctx context.Context, a account) (*envelope.Refusal, error) {
	r := q.of(a.owner)
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-r.turn }()
	hour := q.config.Now().Unix() / 3600
	if q.use(r, hour) {
		return nil, nil
	}
	granted, wait, err := q.reserve(ctx, a)
	switch {
	case err != nil:
		return nil, err
	case granted == 0:
		return &envelope.Refusal{
			Status: http.StatusTooManyRequests, Field: Header, Message: "too many keys were used: Retry-After says when there is room for another",
			Header: http.Header{"Retry-After": {strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)}},
		}, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	r.left, r.hour = granted-1, hour
	return nil, nil
}

func (q *quota) use(r *reservation, hour int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.left == 0 || r.hour != hour {
		return false
	}
	r.left--
	return true
}

// giveBack is for a key of which no record is left, or of which there was one before.
func (q *quota) giveBack(owner string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.held[owner]; r != nil && r.hour == q.config.Now().Unix()/3600 {
		r.left++
	}
}

func (q *quota) of(owner string) *reservation {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.held[owner]
	if r == nil {
		if len(q.held) >= owners {
			for other := range q.held {
				delete(q.held, other)
				break
			}
		}
		r = &reservation{turn: make(chan struct{}, 1)}
		q.held[owner] = r
	}
	return r
}

// reserve counts some more keys in the store, and returns how many. When there is room for none,
// wait is how long until there may be.
func (q *quota) reserve(ctx context.Context, a account) (granted int, wait time.Duration, err error) {
	var t store.KeyTally
	_, err = store.Change(ctx, q.config.Store, store.Record{Key: store.Key{Kind: store.KindKeyTally, ID: a.owner}}, &t, func(r *store.Record) (bool, error) {
		now := q.config.Now()
		r.Expires = now.Add(q.config.Keep + time.Hour)
		t.Hours, granted, wait = countKeys(t.Hours, max(1, min(16, a.most/64)), a.most, q.config.Keep, now)
		return granted > 0, nil
	})
	return granted, wait, err
}
