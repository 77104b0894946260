package ratelimit

// table holds the States of subjects in a bounded number of bytes. It is not safe for
// concurrent use. Every method may move cells: a link is good until the next put, evict or
// sweep.
type table struct {
	cells  pages[cell]
	blocks pages[block]
	heads  pages[link]
	lines  []*line // by their number; nil is free

	cap     int64  // bytes
	crowd   int64  // bytes that buckets take
	buckets uint64 // of a policy at first, a power of two
	folded  uint64 // subjects that were evicted since the start
}

func newTable(buckets int) table {
	return table{
		cells:   pages[cell]{shift: cellShift},
		blocks:  pages[block]{shift: blockShift},
		heads:   pages[link]{shift: headShift},
		buckets: uint64(buckets),
	}
}

// bytes is what the States take.
func (t *table) bytes() int64 { return int64(t.cells.n)*cellBytes + int64(t.blocks.n)*blockBytes }

// allocated is what they take with all that is not full.
func (t *table) allocated() int64 { return t.cells.bytes() + t.blocks.bytes() + t.heads.bytes() }

func (t *table) keys() (n int) {
	for _, l := range t.lines {
		if l != nil {
			n += l.keys()
		}
	}
	return n
}

// get loads what is known of a subject: its own State or, if it has none, that of its
// bucket, which counts at least the units of the subject.
func (t *table) get(subject [2]uint64, line uint32, now int64, into *State) (own bool) {
	l := t.lines[line]
	at := t.find(subject, line, false)
	own = at != 0
	if !own && l.lists[shared].n > 0 {
		at = t.find(bucketID(l.bucket(subject)), line, true)
	}
	if at != 0 {
		t.load(at, into)
	}
	into.Advance(l.grain, now)
	return own
}

// put stores the State of a subject, which holds at least one unit that was added now, and
// makes room for it.
func (t *table) put(subject [2]uint64, line uint32, k kind, s *State, now int64) {
	p := pack(s)
	at := t.find(subject, line, false)
	if at != 0 && !p.fits && !t.cells.at(at).dense {
		t.remove(at) // not the one that making room evicts
		at = 0
	}
	if at == 0 {
		need := int64(cellBytes)
		if !p.fits {
			need += blockBytes
		}
		for t.bytes()+need > t.cap && t.evict(now) {
		}
		at = t.add(subject, line, k)
	}
	t.store(at, &p, s)
	t.touch(at, k)
}

// sweep removes up to n cells without units from each list of each policy.
func (t *table) sweep(now int64, n int) {
	for i, l := range t.lines {
		if l == nil {
			continue
		}
		for k := range l.lists {
			for range n {
				at := l.lists[k].first
				if at == 0 || l.grain.ends(t.cells.at(at).newest()) > now {
					break
				}
				t.remove(at)
			}
		}
		if l.empty() { // a reload may have removed the policy
			t.lines[i] = nil
		}
	}
}

// add makes a cell without units.
func (t *table) add(subject [2]uint64, line uint32, k kind) link {
	at := t.cells.push()
	c := t.cells.at(at)
	c.subject, c.line, c.kind = subject, line, k
	t.enter(at)
	t.enlist(at)
	if k == shared {
		t.crowd += cellBytes
	}
	return at
}

// remove frees a cell. The last one moves to its place.
func (t *table) remove(at link) {
	t.sparse(at)
	if t.cells.at(at).kind == shared {
		t.crowd -= cellBytes
	}
	t.delist(at)
	t.leave(at)
	if last := t.cells.n; at != last {
		c := t.cells.at(last)
		*t.reference(last) = at
		t.relink(c, at, at)
		if c.dense {
			t.blocks.at(c.block()).owner = at
		}
		*t.cells.at(at) = *c
	}
	t.cells.pop()
}

// touch moves a cell to the end of the list of a kind.
func (t *table) touch(at link, k kind) {
	c := t.cells.at(at)
	if c.kind == k && c.next == 0 {
		return
	}
	t.delist(at)
	c.kind = k
	t.enlist(at)
}

func (t *table) load(at link, into *State) {
	c := t.cells.at(at)
	if !c.dense {
		c.unpack(into)
		return
	}
	*into = State{oldest: c.oldest, newest: c.newest(), units: t.blocks.at(c.block()).units}
	for _, n := range into.units {
		into.total += int64(n)
	}
}

// store writes the State s, which p is the packed form of, whether or not there is room.
func (t *table) store(at link, p *packed, s *State) {
	c := t.cells.at(at)
	switch {
	case p.fits:
		t.sparse(at)
		c.counts = p.counts
	case !c.dense:
		b := t.blocks.push()
		c.refer(b)
		t.blocks.at(b).owner = at
		if c.kind == shared {
			t.crowd += blockBytes
		}
		fallthrough
	default:
		t.blocks.at(c.block()).units = s.units
	}
	c.oldest, c.held = p.oldest, p.held
}

// sparse frees the block of a cell, if it has one. The last block moves to its place.
func (t *table) sparse(at link) {
	c := t.cells.at(at)
	if !c.dense {
		return
	}
	b := c.block()
	if last := t.blocks.n; b != last {
		moved := t.blocks.at(last)
		t.cells.at(moved.owner).refer(b)
		*t.blocks.at(b) = *moved
	}
	t.blocks.pop()
	c.dense = false
	if c.kind == shared {
		t.crowd -= blockBytes
	}
}
