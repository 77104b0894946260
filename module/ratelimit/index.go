package ratelimit

import "math/bits"

// The index finds the cell of a subject by linear hashing: there is one head for each cell,
// and each cell that is added or removed splits or merges one chain of cells. So no request
// waits for the rebuilding of a whole table, and the index never takes more than its share.

// indexHash returns the hash that the index uses.
func indexHash(subject [2]uint64, line uint32) uint64 {
	return subject[1] + uint64(line)*0x9e3779b97f4a7c15
}

// chainHead returns the head of the chain for a hash.
func (t *table) chainHead(h uint64) link {
	mask := uint64(1)<<bits.Len32(t.heads.n-1) - 1
	at := h & mask
	if at >= uint64(t.heads.n) {
		at &= mask >> 1
	}
	return link(at) + 1
}

// findCell returns the cell, or 0.
func (t *table) findCell(subject [2]uint64, line uint32, bucket bool) link {
	if t.heads.n == 0 {
		return 0
	}
	at := *t.heads.element(t.chainHead(indexHash(subject, line)))
	for at != 0 {
		c := t.cells.element(at)
		if c.subject == subject && c.line == line && (c.kind == shared) == bucket {
			break
		}
		at = c.chain
	}
	return at
}

// indexCell adds a cell to the index.
func (t *table) indexCell(at link) {
	t.splitChain()
	c := t.cells.element(at)
	head := t.heads.element(t.chainHead(indexHash(c.subject, c.line)))
	c.chain, *head = *head, at
}

// unindexCell removes a cell from the index.
func (t *table) unindexCell(at link) {
	*t.referenceTo(at) = t.cells.element(at).chain
	t.mergeChain()
}

// referenceTo returns the link of the index that refers to a cell.
func (t *table) referenceTo(to link) *link {
	c := t.cells.element(to)
	at := t.heads.element(t.chainHead(indexHash(c.subject, c.line)))
	for *at != to {
		at = &t.cells.element(*at).chain
	}
	return at
}

// splitFrom returns the head whose chain the last one was split from, 0 for the first.
func (t *table) splitFrom() link {
	last := t.heads.n - 1
	if last == 0 {
		return 0
	}
	return last&^(1<<(bits.Len32(last)-1)) + 1
}

// splitChain adds a head, and moves the cells that belong to it.
func (t *table) splitChain() {
	last := t.heads.pushZero()
	buddy := t.splitFrom()
	if buddy == 0 {
		return
	}
	to := t.heads.element(last)
	for from := t.heads.element(buddy); *from != 0; {
		at := *from
		c := t.cells.element(at)
		if t.chainHead(indexHash(c.subject, c.line)) != last {
			from = &c.chain
			continue
		}
		*from = c.chain
		c.chain, *to = *to, at
	}
}

// mergeChain removes the last head; its cells go back to the one they came from.
func (t *table) mergeChain() {
	if buddy := t.splitFrom(); buddy != 0 {
		end := t.heads.element(buddy)
		for *end != 0 {
			end = &t.cells.element(*end).chain
		}
		*end = *t.heads.element(t.heads.n)
	}
	t.heads.popLast()
}
