package ratelimit

import "math/bits"

// evicted remembers, for at least as long as their units count, which subjects were evicted. It is
// a Bloom filter: some others are taken for evicted, but none is forgotten. Without it a new subject
// would have to begin with the counts of its bucket, add its own and leave the sum there when it is
// evicted in its turn, so that each generation of subjects would find less of the limit.
//
// There are two generations: current is added to, and becomes earlier when a window has passed.
type evicted struct {
	current, earlier evictedSet
	size             int64 // of a set, in bytes
	window           int64 // ms for which a subject is remembered at least
	turned           int64 // when current was begun
}

// evictedSet holds two bits for each subject.
type evictedSet struct {
	bits []uint64 // nil: empty
	all  bool     // subjects were forgotten: everybody may be among them
}

// evictedShare of the memory is for each of the two sets.
const evictedShare = 16

// resize forgets all subjects, so that for as long as they matter everybody is taken for evicted.
func (e *evicted) resize(size int64) {
	if e.size == size {
		return
	}
	e.size = size
	e.current, e.earlier = evictedSet{all: e.current.used() || e.earlier.used()}, evictedSet{}
}

func (s *evictedSet) used() bool { return s.bits != nil || s.all }

// turn begins another set if the current one is old enough.
func (e *evicted) turn(t *table, now int64) {
	if now-e.turned < e.window {
		return
	}
	old := now-e.turned >= 2*e.window
	e.turned, e.window = now, 0
	for _, l := range t.lines {
		if l != nil && l.lists[shared].n > 0 {
			e.keepFor(l.grain)
		}
	}
	if e.current, e.earlier = (evictedSet{bits: e.earlier.bits}), e.current; old {
		e.earlier = evictedSet{}
	}
	clear(e.current.bits)
}

// keepFor makes a subject be remembered for at least as long as its units count.
func (e *evicted) keepFor(g Grain) { e.window = max(e.window, g.Window+2*g.Slot) }

// add expects a subject of a line with this grain.
func (e *evicted) add(t *table, subject [2]uint64, line uint32, now int64) {
	e.turn(t, now)
	e.keepFor(t.lines[line].grain)
	if e.current.bits == nil {
		e.current.bits = make([]uint64, max(1, e.size/8))
	}
	for _, at := range e.current.places(subject, line) {
		e.current.bits[at/64] |= 1 << (at % 64)
	}
}

// mayHold reports whether the subject may have been evicted.
func (e *evicted) mayHold(t *table, subject [2]uint64, line uint32, now int64) bool {
	e.turn(t, now)
	return e.current.mayHold(subject, line) || e.earlier.mayHold(subject, line)
}

func (s *evictedSet) mayHold(subject [2]uint64, line uint32) bool {
	if s.bits == nil || s.all {
		return s.all
	}
	for _, at := range s.places(subject, line) {
		if s.bits[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return true
}

// places returns which bits are those of a subject.
func (s *evictedSet) places(subject [2]uint64, line uint32) [2]uint64 {
	n, h := uint64(len(s.bits))*64, indexHash(subject, line)
	first, _ := bits.Mul64(h, n)
	second, _ := bits.Mul64(bits.RotateLeft64(h*0xd6e8feb86659fd93, 32), n)
	return [2]uint64{first, second}
}

func (e *evicted) allocatedBytes() int64 { return 8 * int64(len(e.current.bits)+len(e.earlier.bits)) }
