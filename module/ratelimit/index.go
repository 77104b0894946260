package ratelimit

import "math/bits"

// The index finds the cell of a subject by linear hashing: there is one head for each cell,
// and each cell that is added or removed splits or merges one chain of cells. So no request
// waits until a whole table was rebuilt, and the index never takes more than its part.

// hash is what the index goes by.
func hash(subject [2]uint64, line uint32) uint64 {
	return subject[1] + uint64(line)*0x9e3779b97f4a7c15
}

// head is where the chain for a hash begins.
func (t *table) head(h uint64) link {
	mask := uint64(1)<<bits.Len32(t.heads.n-1) - 1
	at := h & mask
	if at >= uint64(t.heads.n) {
		at &= mask >> 1
	}
	return link(at) + 1
}

// find returns the cell, or 0.
func (t *table) find(subject [2]uint64, line uint32, bucket bool) link {
	if t.heads.n == 0 {
		return 0
	}
	at := *t.heads.at(t.head(hash(subject, line)))
	for at != 0 {
		c := t.cells.at(at)
		if c.subject == subject && c.line == line && (c.kind == shared) == bucket {
			break
		}
		at = c.chain
	}
	return at
}

// enter adds a cell to the index.
func (t *table) enter(at link) {
	t.split()
	c := t.cells.at(at)
	head := t.heads.at(t.head(hash(c.subject, c.line)))
	c.chain, *head = *head, at
}

// leave removes a cell from the index.
func (t *table) leave(at link) {
	*t.reference(at) = t.cells.at(at).chain
	t.merge()
}

// reference is the link of the index that refers to a cell.
func (t *table) reference(to link) *link {
	c := t.cells.at(to)
	at := t.heads.at(t.head(hash(c.subject, c.line)))
	for *at != to {
		at = &t.cells.at(*at).chain
	}
	return at
}

// buddy is the head whose chain the last one was split from, 0 of the first.
func (t *table) buddy() link {
	last := t.heads.n - 1
	if last == 0 {
		return 0
	}
	return last&^(1<<(bits.Len32(last)-1)) + 1
}

// split adds a head, and moves the cells that belong to it.
func (t *table) split() {
	last := t.heads.push()
	buddy := t.buddy()
	if buddy == 0 {
		return
	}
	to := t.heads.at(last)
	for from := t.heads.at(buddy); *from != 0; {
		at := *from
		c := t.cells.at(at)
		if t.head(hash(c.subject, c.line)) != last {
			from = &c.chain
			continue
		}
		*from = c.chain
		c.chain, *to = *to, at
	}
}

// merge removes the last head; its cells go to the one they came from.
func (t *table) merge() {
	if buddy := t.buddy(); buddy != 0 {
		end := t.heads.at(buddy)
		for *end != 0 {
			end = &t.cells.at(*end).chain
		}
		*end = *t.heads.at(t.heads.n)
	}
	t.heads.pop()
}
