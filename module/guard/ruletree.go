package guard

import (
	"math"
	"slices"
	"strings"
)

// ruleTree finds the first rule that matches a request. It branches by path segment, so that a request costs
// the same however many rules there are. Rules must be added in their order.
type ruleTree struct {
	words []word               // literal segments that follow
	index map[string]*ruleTree // the same by their text, as written and folded, where there are many
	any   *ruleTree            // behind "*"
	here  []treeEntry          // patterns that end here, in the order of their rules
	below []treeEntry          // patterns that match everything below
	least int                  // the first rule in this tree
}

type word struct {
	text string
	tree *ruleTree
}

// treeEntry is a pattern of a rule.
type treeEntry struct {
	rule    int
	methods []string // nil: all
	pattern *pattern
}

// manyWords is the number of segments from which on a hash is faster than comparing each of them.
const manyWords = 8

// add adds the rule with an index. r.paths must not change afterwards.
func (t *ruleTree) add(at int, r *rule) {
	for i := range r.paths {
		n, p := t, &r.paths[i]
		for _, segment := range p.segments {
			next := n.any
			if segment != "*" {
				next = n.word(segment)
			}
			if next == nil {
				next = &ruleTree{least: at}
				n.addChild(segment, next)
			}
			n = next
		}
		to := &n.here
		if p.below {
			to = &n.below
		}
		*to = append(*to, treeEntry{at, r.Methods, p})
	}
}

func (t *ruleTree) addChild(segment string, child *ruleTree) {
	if segment == "*" {
		t.any = child
		return
	}
	t.words = append(t.words, word{segment, child})
	unindexed := t.words[len(t.words)-1:]
	if t.index == nil {
		if len(t.words) <= manyWords {
			return
		}
		t.index, unindexed = make(map[string]*ruleTree), t.words
	}
	for _, w := range unindexed {
		t.index[w.text] = w.tree
		t.index[string(appendFolded(nil, w.text))] = w.tree
	}
}

// word returns the tree behind a literal segment in any case, nil if there is none.
func (t *ruleTree) word(segment string) *ruleTree {
	if t.index != nil {
		if next := t.index[segment]; next != nil {
			return next
		}
		var folded [128]byte
		return t.index[string(appendFolded(folded[:0], segment))]
	}
	for i := range t.words {
		if sameSegment(t.words[i].text, segment, false) {
			return t.words[i].tree
		}
	}
	return nil
}

// find returns the first rule that matches a method and a normalized, decoded path, -1 for none.
func (t *ruleTree) find(method, path string) int {
	if first := t.first(method, path, path[1:], true, math.MaxInt); first < math.MaxInt {
		return first
	}
	return -1
}

// first returns the first rule before the rule with the index before that matches, or before itself. rest
// is the rest of the path; more reports whether it is preceded by a slash. Each node of the tree is visited
// at most once.
func (t *ruleTree) first(method, path, rest string, more bool, before int) int {
	for t != nil && t.least < before {
		if more {
			before = firstEntry(t.below, method, path, before)
		}
		if rest == "" {
			before = firstEntry(t.here, method, path, before)
		}
		if !more {
			return before
		}
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if segment != "" && t.any != nil {
			before = t.any.first(method, path, rest, more, before)
		}
		t = t.word(segment)
	}
	return before
}

// firstEntry returns the first rule in entries that matches and precedes the rule before, or before
// itself. The tree ignores case and a trailing slash, which exact patterns do not.
func firstEntry(entries []treeEntry, method, path string, before int) int {
	for i := range entries {
		e := &entries[i]
		if e.rule >= before {
			break
		}
		if (e.methods == nil || slices.Contains(e.methods, method)) && (!e.pattern.exact || e.pattern.match(path)) {
			return e.rule
		}
	}
	return before
}

// covering returns the patterns that cover one of a later rule, in the order of their rules.
func (t *ruleTree) covering(p *pattern) []treeEntry {
	found := slices.DeleteFunc(t.appendCovering(nil, p, p.segments), func(e treeEntry) bool { return !e.pattern.covers(p) })
	slices.SortStableFunc(found, func(a, b treeEntry) int { return a.rule - b.rule })
	return found
}

func (t *ruleTree) appendCovering(found []treeEntry, p *pattern, rest []string) []treeEntry {
	for ; t != nil; rest = rest[1:] {
		if found = append(found, t.below...); len(rest) == 0 {
			return append(found, t.here...)
		}
		if t.any != nil {
			found = t.any.appendCovering(found, p, rest[1:])
		}
		t = t.word(rest[0])
	}
	return found
}
