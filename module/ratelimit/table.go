package ratelimit

// table holds the States of subjects in a bounded number of bytes. It is not safe for
// concurrent use. A link is valid until the next method that may move cells.
type table struct {
	cells  pages[cell]
	blocks pages[block]
	heads  pages[link]
	lines  []*line // by their number; nil is free

	cap     int64  // bytes
	crowd   int64  // bytes that buckets take
	buckets uint64 // initial number for a policy, a power of two
	folded  uint64 // subjects that were evicted since the start
	evicted evicted
}

func newTable(buckets int) table {
	return table{
		cells:   pages[cell]{shift: cellShift},
		blocks:  pages[block]{shift: blockShift},
		heads:   pages[link]{shift: headShift},
		buckets: uint64(buckets),
	}
}

// usedBytes returns what the States take.
func (t *table) usedBytes() int64 { return int64(t.cells.n)*cellBytes + int64(t.blocks.n)*blockBytes }

// allocatedBytes returns what they take with the unused parts of pages.
func (t *table) allocatedBytes() int64 {
	return t.cells.allocatedBytes() + t.blocks.allocatedBytes() + t.heads.allocatedBytes() + t.evicted.allocatedBytes()
}

func (t *table) keyCount() (n int) {
	for _, l := range t.lines {
		if l != nil {
			n += l.keyCount()
		}
	}
	return n
}

// loadSubject loads the State of a subject. If it may have been evicted, that of its bucket counts
// at least its units.
func (t *table) loadSubject(subject [2]uint64, line uint32, now int64, into *State) (own bool) {
	l := t.lines[line]
	at := t.findCell(subject, line, false)
	own = at != 0
	if !own && l.lists[shared].n > 0 && t.evicted.mayHold(t, subject, line, now) {
		at = t.findCell(bucketID(l.bucketNumber(subject)), line, true)
	}
	if at != 0 {
		t.loadState(at, into)
	}
	into.Advance(l.grain, now)
	return own
}

// storeSubject makes room for the State of a subject, which has at least one unit that was added
// now, and stores it.
func (t *table) storeSubject(subject [2]uint64, line uint32, k kind, s *State, now int64) {
	p := packState(s)
	at := t.findCell(subject, line, false)
	if at != 0 && !p.fits && !t.cells.element(at).dense {
		t.removeCell(at) // before making room might evict it
		at = 0
	}
	if at == 0 {
		need := int64(cellBytes)
		if !p.fits {
			need += blockBytes
		}
		for t.usedBytes()+need > t.cap && t.evictSome(now) {
		}
		at = t.addCell(subject, line, k)
	}
	t.storeState(at, &p, s)
	t.touchCell(at, k)
}

// sweepCells removes up to n cells without units from each list of each policy.
func (t *table) sweepCells(now int64, n int) {
	for i, l := range t.lines {
		if l == nil {
			continue
		}
		for k := range l.lists {
			for range n {
				at := l.lists[k].first
				if at == 0 || l.grain.slotEnd(t.cells.element(at).newestSlot()) > now {
					break
				}
				t.removeCell(at)
			}
		}
		if l.isEmpty() { // a reload may have removed the policy
			t.lines[i] = nil
		}
	}
}

// addCell adds a cell without units.
func (t *table) addCell(subject [2]uint64, line uint32, k kind) link {
	at := t.cells.pushZero()
	c := t.cells.element(at)
	c.subject, c.line, c.kind = subject, line, k
	t.indexCell(at)
	t.addToList(at)
	if k == shared {
		t.crowd += cellBytes
	}
	return at
}

// removeCell frees a cell. The last one moves to its place.
func (t *table) removeCell(at link) {
	t.freeBlock(at)
	if t.cells.element(at).kind == shared {
		t.crowd -= cellBytes
	}
	t.removeFromList(at)
	t.unindexCell(at)
	if last := t.cells.n; at != last {
		c := t.cells.element(last)
		*t.referenceTo(last) = at
		t.relinkNeighbours(c, at, at)
		if c.dense {
			t.blocks.element(c.denseBlock()).owner = at
		}
		*t.cells.element(at) = *c
	}
	t.cells.popLast()
}

// touchCell moves a cell to the end of the list of a kind.
func (t *table) touchCell(at link, k kind) {
	c := t.cells.element(at)
	if c.kind == k && c.next == 0 {
		return
	}
	t.removeFromList(at)
	c.kind = k
	t.addToList(at)
}

func (t *table) loadState(at link, into *State) {
	c := t.cells.element(at)
	if !c.dense {
		c.unpackState(into)
		return
	}
	*into = State{oldest: c.oldest, newest: c.newestSlot(), units: t.blocks.element(c.denseBlock()).units}
	for _, n := range into.units {
		into.total += int64(n)
	}
}

// storeState writes s, of which p is the packed form, whether or not there is room.
func (t *table) storeState(at link, p *packed, s *State) {
	c := t.cells.element(at)
	switch {
	case p.fits:
		t.freeBlock(at)
		c.counts = p.counts
	case !c.dense:
		b := t.blocks.pushZero()
		c.setBlock(b)
		t.blocks.element(b).owner = at
		if c.kind == shared {
			t.crowd += blockBytes
		}
		fallthrough
	default:
		t.blocks.element(c.denseBlock()).units = s.units
	}
	c.oldest, c.held = p.oldest, p.held
}

// freeBlock frees the block of a cell, if it has one. The last block moves to its place.
func (t *table) freeBlock(at link) {
	c := t.cells.element(at)
	if !c.dense {
		return
	}
	b := c.denseBlock()
	if last := t.blocks.n; b != last {
		moved := t.blocks.element(last)
		t.cells.element(moved.owner).setBlock(b)
		*t.blocks.element(b) = *moved
	}
	t.blocks.popLast()
	c.dense = false
	if c.kind == shared {
		t.crowd -= blockBytes
	}
}
