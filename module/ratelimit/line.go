package ratelimit

import (
	"strings"
	"time"
)

// line is one policy and its cells, in a list for each kind. A cell whose units change goes to
// the end of its list, so that the lists of subjects are in the order in which their cells
// expire, the one that is idle for longest first. Buckets may expire out of order, by up to a
// window.
type line struct {
	limiter string
	policy  string
	window  time.Duration
	grain   Grain
	lists   [kinds]list
	mask    uint64 // of a subject's hash gives the number of its bucket
}

type list struct {
	first, last link
	n           int
}

// belongsTo reports whether the line is the policy's.
func (l *line) belongsTo(p *Policy) bool {
	return l != nil && l.window == p.Window && l.policy == p.Name && l.limiter == p.Limiter
}

func (l *line) keyCount() int { return l.lists[light].n + l.lists[heavy].n }

func (l *line) isEmpty() bool { return l.keyCount()+l.lists[shared].n == 0 }

// noLine says that a policy has no line.
const noLine = ^uint32(0)

// findLine returns the number of a policy's line, or noLine. There are few, and they stay as
// long as they hold cells.
func (t *table) findLine(p *Policy) uint32 {
	for i, l := range t.lines {
		if l.belongsTo(p) {
			return uint32(i)
		}
	}
	return noLine
}

func (t *table) addLine(p *Policy) uint32 {
	// The names come from a configuration that a reload replaces: it must not be kept alive.
	fresh := &line{
		limiter: strings.Clone(p.Limiter), policy: strings.Clone(p.Name), window: p.Window,
		grain: p.Grain(), mask: t.buckets - 1,
	}
	for i, l := range t.lines {
		if l == nil {
			t.lines[i] = fresh
			return uint32(i)
		}
	}
	t.lines = append(t.lines, fresh)
	return uint32(len(t.lines) - 1)
}

// addToList puts a cell at the end of the list of its kind.
func (t *table) addToList(at link) {
	c := t.cells.element(at)
	to := &t.lines[c.line].lists[c.kind]
	c.prev, c.next = to.last, 0
	if to.last == 0 {
		to.first = at
	} else {
		t.cells.element(to.last).next = at
	}
	to.last = at
	to.n++
}

// removeFromList removes a cell from its list.
func (t *table) removeFromList(at link) {
	c := t.cells.element(at)
	t.relinkNeighbours(c, c.next, c.prev)
	t.lines[c.line].lists[c.kind].n--
}

// relinkNeighbours replaces the references of a cell's neighbours to it.
func (t *table) relinkNeighbours(c *cell, toNext, toPrev link) {
	l := &t.lines[c.line].lists[c.kind]
	if c.prev == 0 {
		l.first = toNext
	} else {
		t.cells.element(c.prev).next = toNext
	}
	if c.next == 0 {
		l.last = toPrev
	} else {
		t.cells.element(c.next).prev = toPrev
	}
}
