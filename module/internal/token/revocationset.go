package token

import (
	"container/heap"
	"math"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// pruneStep bounds the work that one addition does for those that expired.
const pruneStep = 1000

// revocationSet holds revocations up to a limit and forgets those that expired when
// others come. It is not safe for concurrent use.
//
// What it measures is the time that has passed in this process, not the clock: were a clock
// set forward for a moment, what was forgotten then would be missing when it is set back, and
// revoked tokens would be valid again.
type revocationSet struct {
	elapsed func() time.Duration // since the process began with the set
	limit   int
	size    int
	of      map[store.RevocationOf]map[string]revokedUntil
	expired expiryHeap
}

// revokedUntil is in seconds, to keep an entry small.
type revokedUntil struct {
	at      int64 // Unix time, for users of earlier releases and for clients
	expires int64 // as elapsed
	epoch   int64 // tokens of smaller ones are dead
}

func newRevocationSet(limit int, elapsed func() time.Duration) revocationSet {
	s := revocationSet{elapsed: elapsed, limit: limit, of: make(map[store.RevocationOf]map[string]revokedUntil)}
	for _, of := range []store.RevocationOf{
		store.RevokeGrant, store.RevokeToken, store.RevokeSubject, store.RevokePair, store.RevokeClient, store.RevokeKey,
	} {
		s.of[of] = make(map[string]revokedUntil)
	}
	return s
}

func (s *revocationSet) knows(of store.RevocationOf) bool { return s.of[of] != nil }

// revokes reports whether a token is revoked. It needs no clock: an expired entry concerns no token
// that is alive.
func (s *revocationSet) revokes(a *Access) bool {
	for _, c := range [...]struct {
		of    store.RevocationOf
		value string
	}{
		{store.RevokeToken, a.ID}, {store.RevokeGrant, a.Grant}, {store.RevokeKey, a.KeyID},
	} {
		if _, ok := s.of[c.of][c.value]; ok {
			return true
		}
	}
	issued := a.IssuedAt.Unix()
	if e, ok := s.of[store.RevokeSubject][a.Subject]; ok && (issued <= e.at || a.Epochs.Subject < e.epoch) {
		return true
	}
	if pairs := s.of[store.RevokePair]; len(pairs) > 0 {
		if e, ok := pairs[store.PairID(a.Client, a.Subject)]; ok && a.Epochs.Pair < e.epoch {
			return true
		}
	}
	e, ok := s.of[store.RevokeClient][a.Client]
	return ok && issued <= e.at
}

// add reports false when the set is full. Of two revocations of one thing the later
// moment, the higher epoch and the later expiry count.
func (s *revocationSet) add(rv store.Revocation, expires, now time.Time) bool {
	entry := revokedUntil{at: rv.At.Unix(), expires: math.MaxInt64, epoch: rv.Epoch}
	if rv.Epoch != 0 { // no clock counts: who signs in again at once is given living tokens
		entry.at = math.MinInt64
	}
	if !expires.IsZero() {
		entry.expires = int64((s.elapsed()+expires.Sub(now))/time.Second) + 1
	}
	s.prune(pruneStep)
	old, ok := s.of[rv.Of][rv.Value]
	switch {
	case ok:
		entry = revokedUntil{max(old.at, entry.at), max(old.expires, entry.expires), max(old.epoch, entry.epoch)}
	case s.size >= s.limit:
		if s.prune(math.MaxInt); s.size >= s.limit {
			return false
		}
		s.size++
	default:
		s.size++
	}
	s.of[rv.Of][rv.Value] = entry
	if !ok && entry.expires != math.MaxInt64 {
		heap.Push(&s.expired, expiring{entry.expires, rv.Of, rv.Value})
	}
	return true
}

// prune looks at up to most entries whose time seems over and forgets them, or puts
// them back where they were prolonged meanwhile.
func (s *revocationSet) prune(most int) {
	now := int64(s.elapsed() / time.Second)
	for ; most > 0 && len(s.expired) > 0 && s.expired[0].expires <= now; most-- {
		e := s.expired[0]
		if until := s.of[e.of][e.value].expires; until > e.expires {
			s.expired[0].expires = until
			heap.Fix(&s.expired, 0)
			continue
		}
		heap.Pop(&s.expired)
		delete(s.of[e.of], e.value)
		s.size--
	}
}

// expiring is the one item of the heap for an entry of the map, except for those that
// never expire. It may be earlier than the entry's own expiry, never later: pushing
// each prolongation would let one name that is revoked again and again grow the heap.
type expiring struct {
	expires int64
	of      store.RevocationOf
	value   string
}

// expiryHeap has the next to expire on top.
type expiryHeap []expiring

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].expires < h[j].expires }
func (h expiryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *expiryHeap) Push(x any) {
	if e, ok := x.(expiring); ok {
		*h = append(*h, e)
	}
}

// Pop implements heap.Interface.
func (h *expiryHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = expiring{}
	*h = (*h)[:last]
	return e
}
