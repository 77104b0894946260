package redis

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// Leases: requests that Redis has charged in advance, so that this node admits them without asking.
//
// A unit charged in advance counts in the present slot, and is used before that slot ends or never. It does not matter
// when in its slot a unit is used, so a lease changes nothing about what a window admits, even if the node that holds it
// dies. Redis grants a lease only while more than half of each limit is unused. What is left when it ends is given back.
//
// A lease is for equal requests, those with equal vectors: all policies of a request are charged in one step, as always.
// Idle units count as used, so another node may refuse a request because of them. Therefore a node holds no more than a
// small part of each limit, even of one that many callers share.

const (
	// maxLeaseTime bounds how long what Redis granted is used: a flush or a failover may have reset counts.
	maxLeaseTime = time.Second
	// leasePart: a node holds at most a 64th of a limit.
	leasePart = 64
	// Smaller limits and shorter windows are not leased: too little could be used before the slot ends.
	minLeaseLimit  = 10 * leasePart
	minLeaseWindow = 15 * time.Second
	// minLeaseUses is how often a request has come lately before it is worth an entry, and then before it is worth a
	// lease: the first count may be that of several requests.
	minLeaseUses = 3
	// maxLeases bounds the memory for leases, at some 800 bytes each.
	maxLeases = 20_000
	// giveBackEvery is the time between returns of what was not used.
	giveBackEvery = 250 * time.Millisecond
)

// leases are those of one node.
type leases struct {
	mu      sync.Mutex
	cap     int
	turned  time.Time // when earlier was replaced last
	current map[string]*lease
	earlier map[string]*lease
	seed    maphash.Seed
	rare    [1 << 16]rareUses // of requests without an entry, by a hash of their vector
	held    []*lease          // that were granted and have not ended
	units   map[string]int64  // by key: asked for, held or not yet given back; at most a part of the limit
	unused  []unusedUnits
}

// lease is how often an equal request has come, and how often it may come without asking.
type lease struct {
	began        time.Time // of the second in which uses are counted
	uses, before int       // in it, and in the one before

	held    bool // it is among those held
	granted int  // requests, of which some are
	left    int
	answer  answer
	got     time.Time // when the answer came
	until   time.Time // counted from the sending of the batch, so never too late
	wall    int64     // until on the wall clock, in ns: the monotonic one stands still while a machine sleeps
	head    string    // of the keys
	cost    int64
	charges []encodedCharge
}

// rareUses counts, in its lowest byte, the requests of a period of two seconds; the other bits number the period.
// Vectors may share a counter: then one of them gets an entry early.
type rareUses uint32

// unusedUnits are to be given back. No more than leased units of a key are in a slot.
type unusedUnits struct {
	head, key   string
	window      int64
	slot, units int64
}

func newLeases(limit int) *leases {
	return &leases{cap: max(2, limit), current: make(map[string]*lease), units: make(map[string]int64), seed: maphash.MakeSeed()}
}

// mostLeased returns how many equal requests may be leased at once, 0 if none.
func (k *encodedRequest) mostLeased() int {
	most := int64(1 << 15)
	for i := range k.charges {
		c := &k.charges[i]
		if c.dry || c.chosenByClient() || c.limit < minLeaseLimit || c.window < minLeaseWindow.Milliseconds() {
			return 0
		}
		most = min(most, c.limit/(leasePart*k.cost))
	}
	return int(most)
}

// use takes one request from a lease. Without one it returns how many Redis should grant.
func (l *leases) use(k *encodedRequest, r *ratelimit.Request, now time.Time) (v ratelimit.Verdict, ok bool, want int) {
	most := k.mostLeased()
	if most == 0 {
		return v, false, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.find(k.vector, now)
	if e == nil {
		if !l.comesOften(k.vector, now) {
			return v, false, 0
		}
		e = new(lease)
		l.current[k.vector] = e
	}
	e.countUse(now)
	if v, ok = l.useEntry(e, k, r, now); ok {
		return v, true, 0
	}
	if max(e.uses, e.before) < minLeaseUses {
		return v, false, 0
	}
	return v, false, min(most, max(e.uses, e.before-e.uses))
}

// useAfterRefusal is use for a request that Redis has refused: a lease may have been granted meanwhile.
func (l *leases) useAfterRefusal(k *encodedRequest, r *ratelimit.Request, now time.Time) (v ratelimit.Verdict, ok bool) {
	if k.mostLeased() == 0 {
		return v, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.find(k.vector, now); e != nil {
		return l.useEntry(e, k, r, now)
	}
	return v, false
}

// comesOften counts a request that has no entry, and reports whether it is worth one.
func (l *leases) comesOften(vector string, now time.Time) bool {
	uses := &l.rare[maphash.String(l.seed, vector)%uint64(len(l.rare))]
	if period := rareUses(now.Unix()/2) << 8; *uses&^0xff != period {
		*uses = period
	}
	if *uses&0xff < minLeaseUses {
		*uses++
	}
	return *uses&0xff == minLeaseUses
}

// find returns the entry of a vector, or nil.
func (l *leases) find(vector string, now time.Time) *lease {
	if e := l.current[vector]; e != nil {
		return e
	}
	// Two generations: what the earlier one holds was not used for a second, or there is too much.
	if len(l.current) >= l.cap/2 || now.Sub(l.turned) >= maxLeaseTime {
		l.earlier, l.current, l.turned = l.current, make(map[string]*lease, len(l.current)), now
	}
	e := l.earlier[vector]
	if e != nil {
		l.current[vector] = e
	}
	return e
}

func (e *lease) countUse(now time.Time) {
	if since := now.Sub(e.began); since >= time.Second {
		e.before = e.uses
		if since >= 2*time.Second {
			e.before = 0
		}
		e.began, e.uses = now, 0
	}
	e.uses++
}

func (e *lease) usable(now time.Time) bool {
	return e.left > 0 && now.Before(e.until) && now.UnixNano() < e.wall
}

// holds reports whether use would take an equal request from a lease.
func (l *leases) holds(k *encodedRequest, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.find(k.vector, now)
	return e != nil && e.usable(now)
}

func (l *leases) useEntry(e *lease, k *encodedRequest, r *ratelimit.Request, now time.Time) (v ratelimit.Verdict, ok bool) {
	if !e.usable(now) {
		return v, false
	}
	e.left--
	// As the last but e.left of those that were admitted together.
	v = e.answer.verdict(k, r, e.answer.admitted-1-e.left, max(0, now.Sub(e.got)))
	if e.left == 0 {
		l.endLease(e)
	}
	return v, true
}

// reserve returns how many of the equal requests that a call wants Redis may be asked to grant. What it
// returns is reserved until settle.
func (l *leases) reserve(k *encodedRequest, want int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) >= l.cap {
		return 0
	}
	n := int64(want)
	for i := range k.charges {
		c := &k.charges[i]
		n = min(n, (c.limit/leasePart-l.units[c.key])/k.cost)
	}
	if n <= 0 {
		return 0
	}
	l.countUnits(k.charges, n*k.cost)
	return int(n)
}

// countUnits adds to the units of the keys.
func (l *leases) countUnits(charges []encodedCharge, units int64) {
	for i := range charges {
		l.countUnitsOf(charges[i].key, units)
	}
}

func (l *leases) countUnitsOf(key string, units int64) {
	if units += l.units[key]; units == 0 {
		delete(l.units, key)
	} else {
		l.units[key] = units
	}
}

// settle ends a reservation. The answer is nil if Redis gave none: what it may have charged counts for a window.
func (l *leases) settle(head string, g *group, a *answer, sent, got time.Time) {
	granted := 0
	if a != nil {
		granted = max(0, a.admitted-g.n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countUnits(g.charges, int64(granted-g.lease)*g.cost)
	if granted > 0 {
		l.grant(head, g.encodedRequest, a, granted, sent, got)
	}
}

// grant records that Redis charged n more equal requests than it was asked to decide on.
func (l *leases) grant(head string, k *encodedRequest, a *answer, n int, sent, got time.Time) {
	e := l.find(k.vector, got)
	if e == nil { // it was forgotten meanwhile
		e = new(lease)
		l.current[k.vector] = e
	}
	if e.left > 0 && !e.sameSlots(a.at) {
		l.endLease(e)
	}
	if e.left > 0 { // of another batch that was in flight with this one
		e.left, e.granted = e.left+n, e.granted+n
		if a.counts[0].total > e.answer.counts[0].total {
			e.setAnswer(a, got)
		}
		return
	}
	e.left, e.granted, e.head, e.cost, e.charges = n, n, head, k.cost, slices.Clone(k.charges)
	e.setAnswer(a, got)
	lasts := maxLeaseTime
	for i := range e.charges {
		slot := e.charges[i].slotLength()
		lasts = min(lasts, time.Duration((a.at/slot+1)*slot-a.at)*time.Millisecond)
	}
	e.until = sent.Add(lasts - time.Millisecond) // the server's time was rounded down to a millisecond
	e.wall = e.until.UnixNano()
	if !e.held {
		e.held = true
		l.held = append(l.held, e)
	}
}

func (e *lease) setAnswer(a *answer, got time.Time) {
	e.answer, e.got = *a, got
	e.answer.counts = slices.Clone(a.counts) // not the slice of the whole batch
}

func (c *encodedCharge) slotLength() int64 {
	return (c.window + ratelimit.Slots - 1) / ratelimit.Slots
}

// sameSlots reports whether what is charged at a time counts for as long as the lease.
func (e *lease) sameSlots(at int64) bool {
	for i := range e.charges {
		if slot := e.charges[i].slotLength(); at/slot != e.answer.at/slot {
			return false
		}
	}
	return true
}

// endLease ends a lease; what is left of it is to be given back.
func (l *leases) endLease(e *lease) {
	used, left := int64(e.granted-e.left)*e.cost, int64(e.left)*e.cost
	l.countUnits(e.charges, -used)
	for i := range e.charges {
		if c := &e.charges[i]; left > 0 {
			l.unused = append(l.unused, unusedUnits{e.head, c.key, c.window, e.answer.at / c.slotLength(), left})
		}
	}
	e.left, e.granted = 0, 0
}

// endLeases ends the leases that have expired, or all, and returns what is to be given back.
func (l *leases) endLeases(all bool, now time.Time) (unused []unusedUnits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held[:0]
	for _, e := range l.held {
		if !all && e.left > 0 && now.Before(e.until) {
			held = append(held, e)
		} else {
			l.endLease(e)
			e.held = false
		}
	}
	clear(l.held[len(held):])
	l.held = held
	unused, l.unused = l.unused, nil
	for _, u := range unused {
		l.countUnitsOf(u.key, -u.units)
	}
	return unused
}
