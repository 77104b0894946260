package revocationlist

import (
	"container/heap"
	"math"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// pruneStep bounds the work that one addition does for those that expired.
const pruneStep = 1000

// set holds revocations up to a limit and forgets expired ones when others are added. It is not safe for concurrent
// use.
//
// It measures the time that has passed in this process, not the clock: if a clock were set forward for a moment,
// entries forgotten then would be missing once it is set back, and revoked tokens would be valid again.
type set struct {
	elapsed func() time.Duration // since the set was made
	limit   int
	size    int
	of      map[store.RevocationOf]map[string]revokedUntil
	expired expiryHeap
}

// revokedUntil is in seconds, to keep an entry small.
type revokedUntil struct {
	at      int64 // Unix time, for users of earlier releases and for clients
	expires int64 // like elapsed
	epoch   int64 // tokens of smaller epochs are dead
}

func newSet(limit int, elapsed func() time.Duration) set {
	s := set{elapsed: elapsed, limit: limit, of: make(map[store.RevocationOf]map[string]revokedUntil)}
	for _, of := range []store.RevocationOf{
		store.RevokeGrant, store.RevokeToken, store.RevokeSubject, store.RevokePair, store.RevokeClient, store.RevokeKey,
	} {
		s.of[of] = make(map[string]revokedUntil)
	}
	return s
}

// revokes reports whether a token is revoked. It needs no clock: an expired entry concerns no token that is alive.
func (s *set) revokes(t *Token) bool {
	_, token := s.of[store.RevokeToken][t.ID]
	_, grant := s.of[store.RevokeGrant][t.Grant]
	_, key := s.of[store.RevokeKey][t.KeyID]
	if token || grant || key {
		return true
	}
	issued := t.IssuedAt.Unix()
	if e, ok := s.of[store.RevokeSubject][t.Subject]; ok && (issued <= e.at || t.Epochs.Subject < e.epoch) {
		return true
	}
	if pairs := s.of[store.RevokePair]; len(pairs) > 0 {
		if e, ok := pairs[store.PairID(t.Client, t.Subject)]; ok && t.Epochs.Pair < e.epoch {
			return true
		}
	}
	e, ok := s.of[store.RevokeClient][t.Client]
	return ok && issued <= e.at
}

// add reports false when the set is full. Of two revocations of one thing the later moment, the higher epoch and the
// later expiry count.
func (s *set) add(rv store.Revocation, expires, now time.Time) bool {
	entry := revokedUntil{at: rv.At.Unix(), expires: math.MaxInt64, epoch: rv.Epoch}
	if rv.Epoch != 0 { // the clock does not count: tokens of a new sign-in at the same moment live
		entry.at = math.MinInt64
	}
	if !expires.IsZero() {
		entry.expires = int64((s.elapsed()+expires.Sub(now))/time.Second) + 1
	}
	s.prune(pruneStep)
	old, ok := s.of[rv.Of][rv.Value]
	if ok {
		entry = revokedUntil{max(old.at, entry.at), max(old.expires, entry.expires), max(old.epoch, entry.epoch)}
	} else {
		if s.size >= s.limit {
			s.prune(math.MaxInt)
		}
		if s.size >= s.limit {
			return false
		}
		s.size++
	}
	s.of[rv.Of][rv.Value] = entry
	if !ok && entry.expires != math.MaxInt64 {
		heap.Push(&s.expired, expiring{entry.expires, rv.Of, rv.Value})
	}
	return true
}

// prune looks at up to most entries whose time seems over. It forgets them, or moves back those that were prolonged.
func (s *set) prune(most int) {
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

// expiring is the one item of the heap for an entry of the map, except for those that never expire. It may be earlier
// than the entry's own expiry, never later: pushing each prolongation would let one name that is revoked again and
// again grow the heap.
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
