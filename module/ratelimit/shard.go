package ratelimit

import (
	"strings"
	"sync"
	"time"
)

// key is what units are counted under.
type key struct {
	limiter string
	policy  string
	window  time.Duration
	subject string
}

// ref is where a charge of a request is counted.
type ref struct {
	key   key
	shard *shard
	entry *entry
	room  bool // for an entry, if there is none yet
}

// shared: counted in the common bucket.
func (r *ref) shared() bool { return r.entry == nil && !r.room }

func (k key) bucket() bucketKey {
	return bucketKey{limiter: k.limiter, policy: k.policy, window: k.window}
}

// entry is one key, in the line of those with the same window.
type entry struct {
	State
	key        key
	line       *line
	expires    int64
	prev, next *entry
}

// shard is a part of the keys under one lock.
type shard struct {
	mu       sync.Mutex
	cap      int
	promised int // entries this request may yet add
	entries  map[key]*entry
	lines    []*line // few: one for each window in the configuration
}

// line holds the entries of one window by the time of their last unit, which is the
// order in which they expire.
type line struct {
	grain Grain
	ends  entry // ends.next is the first to expire; a ring
}

func (s *shard) init(keys int) {
	s.cap = keys
	s.entries = make(map[key]*entry)
}

// promise reserves room for one more entry until the end of the request.
func (s *shard) promise() bool {
	if len(s.entries)+s.promised >= s.cap {
		return false
	}
	s.promised++
	return true
}

// add makes the entry for a key that has none, as a copy of what the common bucket holds.
func (s *shard) add(k key, from *State) *entry {
	// Names come from a configuration that may be gone soon, subjects from a
	// request's memory: neither may be kept alive by the key.
	k.limiter, k.policy, k.subject = strings.Clone(k.limiter), strings.Clone(k.policy), strings.Clone(k.subject)
	e := &entry{key: k, line: s.line(newGrain(k.window))}
	if from != nil {
		e.State = *from
	}
	s.entries[k] = e
	e.line.append(e)
	return e
}

func (s *shard) line(g Grain) *line {
	for _, l := range s.lines {
		if l.grain == g {
			return l
		}
	}
	l := &line{grain: g}
	l.ends.prev, l.ends.next = &l.ends, &l.ends
	s.lines = append(s.lines, l)
	return l
}

// sweep removes up to n expired entries of each window.
func (s *shard) sweep(now int64, n int) {
	for i := len(s.lines) - 1; i >= 0; i-- {
		l := s.lines[i]
		for range n {
			e := l.ends.next
			if e == &l.ends || e.expires > now {
				break
			}
			e.remove()
			delete(s.entries, e.key)
		}
		if l.ends.next == &l.ends { // a reload may have taken the window away
			s.lines = append(s.lines[:i], s.lines[i+1:]...)
		}
	}
}

func (l *line) append(e *entry) {
	e.prev, e.next = l.ends.prev, &l.ends
	e.prev.next, e.next.prev = e, e
}

func (e *entry) remove() {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}

// touch moves the entry to the end of its line, after units were added.
func (e *entry) touch() {
	e.expires = e.line.grain.ends(e.newest)
	if e.next != &e.line.ends {
		e.remove()
		e.line.append(e)
	}
}
