package guard

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is the path of a rule, in its decoded form.
//
//	/articles        this path
//	/articles/*      everything below: /articles/, /articles/7, /articles/7/notes
//	/users/*/photo   * for exactly one segment that is not empty
//	/*               everything
//
// A scope rule ignores case and a trailing slash: upstreams often do, and a path
// that only looks different must not slip past it to a later rule. The dotted İ and
// the dotless ı are an i to it, as they are to an upstream that lower-cases or upper-cases.
// A public rule matches exactly, because the same tolerance would open more than was written.
type pattern struct {
	text     string
	segments []string // "*": any one
	below    bool
	exact    bool
}

func compilePattern(text string, exact bool) (pattern, error) {
	refuse := func(why string) (pattern, error) {
		return pattern{}, fmt.Errorf("guard: path %q: %s", text, why)
	}
	switch {
	case !strings.HasPrefix(text, "/"):
		return refuse("it must begin with /; every path is /*")
	case !utf8.ValidString(text):
		return refuse("it is not UTF-8")
	case strings.ContainsAny(text, "{}"):
		return refuse("it has no placeholders, expected * for one segment, or at the end for everything below")
	case strings.ContainsAny(text, `%\;?#`):
		return refuse(`it must be a decoded path without % \ ; ? #`)
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return refuse("it contains a space or control character")
	}
	p := pattern{text: text, exact: exact, segments: strings.Split(text[1:], "/")}
	last := len(p.segments) - 1
	for i, s := range p.segments {
		switch {
		case s == "" && i < last:
			return refuse("a request with // is refused, so this never matches")
		case s == "." || s == "..":
			return refuse("a request with dot segments is refused, so this never matches")
		case strings.Contains(s, "*") && s != "*":
			return refuse("* stands for a whole segment, or at the end for everything below")
		}
	}
	if p.segments[last] == "*" {
		p.below, p.segments = true, p.segments[:last]
	} else if last > 0 && p.segments[last] == "" && !exact {
		p.segments = p.segments[:last]
	}
	return p, nil
}

// match reports whether the pattern matches a normalized, decoded path.
func (p *pattern) match(path string) bool {
	rest, more := path[1:], true
	for _, want := range p.segments {
		if !more {
			return false
		}
		var got string
		got, rest, more = strings.Cut(rest, "/")
		if want == "*" {
			if got == "" {
				return false
			}
		} else if !sameSegment(want, got, p.exact) {
			return false
		}
	}
	if p.below {
		return more
	}
	return !more || !p.exact && rest == ""
}

func sameSegment(a, b string, exact bool) bool {
	return a == b || !exact && sameInAnyCase(a, b)
}

// covers reports whether p matches everything that q, of a later rule, is written for.
func (p *pattern) covers(q *pattern) bool {
	for i, want := range p.segments {
		if i >= len(q.segments) {
			return false
		}
		got := q.segments[i]
		if want == "*" {
			if got == "" {
				return false
			}
		} else if got == "*" || !sameSegment(want, got, p.exact) {
			return false
		}
	}
	if p.below {
		return q.below || len(q.segments) > len(p.segments)
	}
	return !q.below && len(q.segments) == len(p.segments)
}

// checkReachable refuses a rule with a path that earlier rules decide for all its methods.
// Two rules for one path look as if either sufficed, and a scope rule behind a
// public one looks as if it protected something.
func (t *ruleTree) checkReachable(earlier []rule, r rule) error {
	for i := range r.paths {
		left := slices.Clone(r.Methods)
		for _, e := range t.covering(&r.paths[i]) {
			if e.methods == nil {
				left = []string{}
			}
			left = slices.DeleteFunc(left, func(m string) bool { return slices.Contains(e.methods, m) })
			if left != nil && len(left) == 0 {
				return fmt.Errorf("guard: path %q never decides: the earlier %q does, for all its methods", r.paths[i].text, earlier[e.rule].paths[0].text)
			}
		}
	}
	return nil
}
