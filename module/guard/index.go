package guard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// indexedPatterns is from how many path patterns on rules are found by an index: up to there, trying
// one after the other is faster.
const indexedPatterns = 16

// ruleIndex finds the rules whose patterns may match a path, in a tree of segments: what a request
// costs depends on the length of its path and not on the number of rules.
type ruleIndex struct {
	literal map[string]*ruleIndex // by folded segment
	any     *ruleIndex            // "*"
	here    []int                 // rules with a pattern that ends here, in ascending order
	below   []int                 // rules with a pattern that ends with /* here
}

// add adds the patterns of rule i, which is greater than those before.
func (n *ruleIndex) add(i int, paths []pattern) {
	for _, p := range paths {
		at := n
		for _, s := range p.segments {
			at = at.makeChild(s)
		}
		if p.below {
			at.below = append(at.below, i)
		} else {
			at.here = append(at.here, i)
		}
	}
}

func (n *ruleIndex) makeChild(segment string) *ruleIndex {
	if segment == "*" {
		if n.any == nil {
			n.any = new(ruleIndex)
		}
		return n.any
	}
	key := string(appendFolded(nil, segment))
	if n.literal[key] == nil {
		if n.literal == nil {
			n.literal = make(map[string]*ruleIndex)
		}
		n.literal[key] = new(ruleIndex)
	}
	return n.literal[key]
}

func (n *ruleIndex) child(segment string) *ruleIndex {
	if n.literal == nil {
		return nil
	}
	var buffer [64]byte
	return n.literal[string(appendFolded(buffer[:0], segment))]
}

// first returns the first rule before limit that matches, or limit. rest is the part of the path behind
// this node; more says that a slash stands in front of it.
func (n *ruleIndex) first(rules []rule, method, path, rest string, more bool, limit int) int {
	if n == nil {
		return limit
	}
	if more {
		limit = firstMatch(n.below, rules, method, path, limit)
	}
	if !more || rest == "" {
		limit = firstMatch(n.here, rules, method, path, limit)
	}
	if !more {
		return limit
	}
	segment, rest, more := strings.Cut(rest, "/")
	limit = n.child(segment).first(rules, method, path, rest, more, limit)
	return n.any.first(rules, method, path, rest, more, limit)
}

func firstMatch(candidates []int, rules []rule, method, path string, limit int) int {
	for _, i := range candidates {
		if i >= limit || rules[i].matches(method, path) {
			return min(i, limit)
		}
	}
	return limit
}

// covering returns the rules that may have a pattern that covers q, in ascending order.
func (n *ruleIndex) covering(q *pattern) []int {
	all := n.appendCovering(nil, q, q.segments)
	slices.Sort(all)
	return slices.Compact(all)
}

func (n *ruleIndex) appendCovering(all []int, q *pattern, rest []string) []int {
	switch {
	case n == nil:
		return all
	case len(rest) > 0 || q.below:
		all = append(all, n.below...)
	default:
		all = append(all, n.here...)
	}
	if len(rest) == 0 {
		return all
	}
	if rest[0] != "*" {
		all = n.child(rest[0]).appendCovering(all, q, rest[1:])
	}
	return n.any.appendCovering(all, q, rest[1:])
}

// appendFolded appends a segment so that those which [strings.EqualFold] takes for equal become the same.
func appendFolded(to []byte, segment string) []byte {
	for _, c := range segment {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		for f := c; c >= utf8.RuneSelf; {
			if f = unicode.SimpleFold(f); f <= c {
				c = f
				break
			}
		}
		to = utf8.AppendRune(to, c)
	}
	return to
}
