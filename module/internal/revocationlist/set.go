package revocationlist

import (
	"container/heap"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// pruneStep bounds the work that one addition does for those that expired.
	pruneStep = 1000
	// chunkSize is how many entries are allocated at once.
	chunkSize = 1 << 12
	// maxClients bounds the names of clients that entries refer to.
	maxClients = 1 << 16
	// remainder is the divisor of the limit: that many entries with a client are kept when marks need room too.
	remainder = 8
	// foldMargin is how much later than a revocation the tokens of its client are refused once it is folded: requests
	// were in progress, and clocks differ.
	foldMargin = jose.Leeway
)

// kinds are what can be revoked. A kind's number is its index.
var kinds = []store.RevocationOf{
	store.RevokeGrant, store.RevokeToken, store.RevokeSubject, store.RevokePair, store.RevokeClient, store.RevokeKey,
}

const (
	ofGrant = iota
	ofToken
	ofSubject
	ofPair
	ofClient
	ofKey
)

// set holds revocations up to a limit, each in less than 100 bytes, and forgets those that expired. It is not safe for
// concurrent use.
//
// A revocation beyond the limit makes another one fold into a mark: the one that expires first of those that name a
// client, and everything of that client that was issued until then is refused. Marks, and what names no client, fold
// last: only when they fill nearly all, everything that anybody was issued until then is refused. Holders have to
// refresh their tokens; nothing revoked is let in.
//
// It measures the time that has passed in this process, not the clock: if a clock were set forward for a moment,
// entries forgotten then would be missing once it is set back, and revoked tokens would be valid again.
type set struct {
	elapsed func() time.Duration // since the set was made
	limit   int
	size    int
	count   [ofKey + 1]int // by kind
	folded  int            // how many entries were folded so far

	seeds  [ofKey + 1][2]maphash.Seed
	index  map[uint64]uint32 // by the first hash of a name: its place in chunks
	chunks []*[chunkSize]entry
	free   []uint32

	// named has the entries that name a client, unnamed the others, except those that never expire.
	named, unnamed expiryHeap

	clients     []client // that entries refer to; the first is none
	freeClients []uint32
	clientOf    map[name]uint32

	// everyone is until when, in Unix seconds, tokens of everyone were issued that are refused.
	everyone        int64
	everyoneExpires uint32
}

// name stands for a kind and a value: two hashes with seeds of this process. The names of a million revocations would
// take more memory than all the rest.
type name [2]uint64

// client is one that entries refer to.
type client struct {
	name    name
	entries uint32 // how many do
}

// entry is one revocation. Times are in seconds, to keep it small.
type entry struct {
	name    name
	epoch   int64  // tokens of smaller epochs are dead
	until   uint32 // and those issued until then, Unix time; 0: the clock does not count
	at      uint32 // when it was revoked, Unix time
	expires uint32 // like elapsed; never: does not expire
	sorted  uint32 // where it is in the order of expiry: as expires, or earlier
	client  uint32 // whose tokens it concerns: index in clients
	kind    uint8
}

const never = math.MaxUint32

func newSet(limit int, elapsed func() time.Duration) *set {
	s := &set{
		elapsed: elapsed, limit: limit, index: make(map[uint64]uint32),
		clients: make([]client, 1), clientOf: make(map[name]uint32), everyone: math.MinInt64,
	}
	for kind := range s.seeds {
		s.seeds[kind] = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	}
	s.named.set, s.unnamed.set = s, s
	return s
}

func (s *set) entryAt(i uint32) *entry { return &s.chunks[i/chunkSize][i%chunkSize] }

func (s *set) nameOf(kind int, value string) name {
	return name{maphash.String(s.seeds[kind][0], value), maphash.String(s.seeds[kind][1], value)}
}

// findEntry returns the entry of a value, nil for none.
func (s *set) findEntry(kind int, value string) *entry {
	if s.count[kind] == 0 {
		return nil
	}
	i, ok := s.index[maphash.String(s.seeds[kind][0], value)]
	if !ok {
		return nil
	}
	if e := s.entryAt(i); e.name[1] == maphash.String(s.seeds[kind][1], value) {
		return e
	}
	return nil
}

// revokes reports whether a token is revoked. It needs no clock: an expired entry concerns no token that is alive.
func (s *set) revokes(t *Token) bool {
	if s.findEntry(ofToken, t.ID) != nil || s.findEntry(ofGrant, t.Grant) != nil || s.findEntry(ofKey, t.KeyID) != nil {
		return true
	}
	issued := t.IssuedAt.Unix()
	if e := s.findEntry(ofSubject, t.Subject); e != nil && (issued <= int64(e.until) || t.Epochs.Subject < e.epoch) {
		return true
	}
	if s.count[ofPair] > 0 {
		if e := s.findEntry(ofPair, store.PairID(t.Client, t.Subject)); e != nil && t.Epochs.Pair < e.epoch {
			return true
		}
	}
	e := s.findEntry(ofClient, t.Client)
	return e != nil && issued <= int64(e.until) || issued <= s.everyone
}

// add puts a revocation in force. Of two revocations of one thing the later moment, the higher epoch and the later
// expiry count.
func (s *set) add(kind int, rv store.Revocation, expires, now time.Time) {
	s.prune(pruneStep) // first: it gives places and the numbers of clients back
	e := entry{
		name: s.nameOf(kind, rv.Value), kind: uint8(kind), epoch: rv.Epoch, at: seconds(rv.At.Unix()), expires: never, client: s.takeClient(rv.Client),
	}
	if rv.Epoch == 0 { // else tokens of a new sign-in at the same moment live
		e.until = e.at
	}
	if !expires.IsZero() {
		e.expires = seconds(int64((s.elapsed()+expires.Sub(now))/time.Second) + 1)
	}
	s.put(e)
	for s.size > s.limit && len(s.named.order)+len(s.unnamed.order) > 0 {
		h := &s.unnamed
		// Without a remainder a new revocation would fold at once, and tokens issued a moment later be refused.
		if len(h.order) == 0 || len(s.named.order) > s.limit/remainder {
			h = &s.named
		}
		first := s.popFirst(h)
		s.fold(first)
		s.releaseClient(first.client)
	}
}

func seconds(n int64) uint32 { return uint32(min(max(0, n), never-1)) }

// takeClient returns the number of a client, for one more entry: 0 for none, and for one that has no place.
func (s *set) takeClient(id string) uint32 {
	if id == "" {
		return 0
	}
	n := s.nameOf(ofClient, id)
	i, ok := s.clientOf[n]
	if !ok {
		switch last := len(s.freeClients) - 1; {
		case last >= 0:
			i, s.freeClients = s.freeClients[last], s.freeClients[:last]
		case len(s.clients) < maxClients:
			i, s.clients = uint32(len(s.clients)), append(s.clients, client{})
		default:
			return 0
		}
		s.clients[i], s.clientOf[n] = client{name: n}, i
	}
	s.clients[i].entries++
	return i
}

// releaseClient is called when an entry is gone; the last one of a client gives its number back.
func (s *set) releaseClient(i uint32) {
	if i == 0 {
		return
	}
	if s.clients[i].entries--; s.clients[i].entries == 0 {
		delete(s.clientOf, s.clients[i].name)
		s.freeClients = append(s.freeClients, i)
	}
}

// put adds an entry, or merges it into that of the same name.
func (s *set) put(e entry) {
	if i, ok := s.index[e.name[0]]; ok {
		old := s.entryAt(i)
		if old.name != e.name { // no room for both of two names with one hash
			s.fold(e)
			s.releaseClient(e.client)
			return
		}
		s.releaseClient(e.client) // the old one has its own
		old.epoch, old.until, old.at, old.expires = max(old.epoch, e.epoch), max(old.until, e.until), max(old.at, e.at), max(old.expires, e.expires)
		return
	}
	if len(s.free) == 0 {
		first := uint32(len(s.chunks) * chunkSize)
		s.chunks = append(s.chunks, new([chunkSize]entry))
		for i := range uint32(chunkSize) {
			s.free = append(s.free, first+chunkSize-1-i)
		}
	}
	i := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	e.sorted = e.expires
	*s.entryAt(i), s.index[e.name[0]] = e, i
	s.size++
	s.count[e.kind]++
	switch {
	case e.expires == never:
	case e.client != 0:
		heap.Push(&s.named, i)
	default:
		heap.Push(&s.unnamed, i)
	}
}

// fold puts a mark in the place of an entry that is no longer there.
func (s *set) fold(e entry) {
	s.folded++
	const margin = int64(foldMargin / time.Second)
	until, expires := seconds(int64(e.at)+margin), seconds(int64(e.expires)+margin)
	if e.kind == ofClient { // no token that was issued later is revoked
		until, expires = e.until, e.expires
	}
	if e.client != 0 {
		s.put(entry{name: s.clients[e.client].name, kind: ofClient, at: until, until: until, expires: expires})
		return
	}
	s.everyone, s.everyoneExpires = max(s.everyone, int64(until)), max(s.everyoneExpires, expires)
}

// prune looks at up to most entries whose time seems over. It forgets them, or moves back those that were prolonged.
func (s *set) prune(most int) {
	now := uint32(s.elapsed() / time.Second)
	for _, h := range [...]*expiryHeap{&s.named, &s.unnamed} {
		for ; most > 0 && len(h.order) > 0 && s.entryAt(h.order[0]).sorted <= now; most-- {
			if !h.resort() {
				s.releaseClient(s.popFirst(h).client)
			}
		}
	}
	if s.everyoneExpires <= now {
		s.everyone = math.MinInt64
	}
	if s.size == 0 && len(s.chunks) > 1 { // give the memory of a surge back
		s.index, s.chunks, s.free, s.named.order, s.unnamed.order = make(map[uint64]uint32), nil, nil, nil, nil
		s.clients, s.freeClients, s.clientOf = make([]client, 1), nil, make(map[name]uint32)
	}
}

// popFirst removes the entry that expires first.
func (s *set) popFirst(h *expiryHeap) entry {
	for h.resort() {
	}
	i := h.order[0]
	e := *s.entryAt(i)
	heap.Pop(h)
	delete(s.index, e.name[0])
	s.free = append(s.free, i)
	s.size--
	s.count[e.kind]--
	return e
}

// expiryHeap has the place of the next entry to expire on top. An entry is in it once, however often it is prolonged.
type expiryHeap struct {
	set   *set
	order []uint32
}

func (h *expiryHeap) Len() int { return len(h.order) }
func (h *expiryHeap) Less(i, j int) bool {
	return h.set.entryAt(h.order[i]).sorted < h.set.entryAt(h.order[j]).sorted
}
func (h *expiryHeap) Swap(i, j int) { h.order[i], h.order[j] = h.order[j], h.order[i] }

// resort moves the first entry back if it was prolonged.
func (h *expiryHeap) resort() (prolonged bool) {
	e := h.set.entryAt(h.order[0])
	if e.expires > e.sorted {
		e.sorted, prolonged = e.expires, true
		heap.Fix(h, 0)
	}
	return prolonged
}

// Push implements heap.Interface.
func (h *expiryHeap) Push(x any) {
	if i, ok := x.(uint32); ok {
		h.order = append(h.order, i)
	}
}

// Pop implements heap.Interface.
func (h *expiryHeap) Pop() any {
	last := len(h.order) - 1
	i := h.order[last]
	h.order = h.order[:last]
	return i
}

func kindOf(of store.RevocationOf) int { return slices.Index(kinds, of) }
