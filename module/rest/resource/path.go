package resource

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a client's path: literal segments and placeholders.
type pattern struct {
	text     string
	segments []segment
	names    []string // of the placeholders, in order
}

type segment struct {
	text  string // the literal, or the placeholder's name
	param bool
}

var (
	placeholder = regexp.MustCompile(`^\{([a-z][a-z0-9_]*)\}$`)
	literal     = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)
)

func parsePattern(text string) (pattern, error) {
	p := pattern{text: text}
	rest, ok := strings.CutPrefix(text, "/")
	if !ok || rest == "" {
		return p, fmt.Errorf("path %q: expected /, words, and placeholders such as /articles/{id}", text)
	}
	for s := range strings.SplitSeq(rest, "/") {
		if m := placeholder.FindStringSubmatch(s); m != nil {
			for _, name := range p.names {
				if name == m[1] {
					return p, fmt.Errorf("path %q: the placeholder {%s} stands in it twice, expected each once", text, name)
				}
			}
			p.names = append(p.names, m[1])
			p.segments = append(p.segments, segment{m[1], true})
			continue
		}
		if !literal.MatchString(s) || s == "." || s == ".." {
			return p, fmt.Errorf("path %q: segment %q: expected a word of letters, digits and -._~, or a placeholder such as {id}", text, s)
		}
		p.segments = append(p.segments, segment{s, false})
	}
	return p, nil
}

// below reports whether p is other, or leads on from there.
func (p pattern) below(other pattern) bool {
	if len(p.segments) < len(other.segments) {
		return false
	}
	for i, s := range other.segments {
		if s.param != p.segments[i].param || !s.param && s.text != p.segments[i].text {
			return false
		}
	}
	return true
}

// fill puts values, decoded, in place of the placeholders.
func (p pattern) fill(values []string) string {
	var b strings.Builder
	next := 0
	for _, s := range p.segments {
		b.WriteByte('/')
		if s.param {
			b.WriteString(url.PathEscape(values[next]))
			next++
		} else {
			b.WriteString(s.text)
		}
	}
	return b.String()
}

// maxSegments bounds the work on a path; no declared one is longer.
const maxSegments = 32

// split gives the decoded segments of an escaped path; nil when nothing can be declared
// there. safe is false when some upstream could take a segment for a step through
// directories, or for the end of a line.
func split(escaped string) (segments []string, safe bool) {
	rest, rooted := strings.CutPrefix(escaped, "/")
	blank := !rooted || strings.Count(rest, "/") >= maxSegments
	for s := range strings.SplitSeq(rest, "/") {
		text, err := url.PathUnescape(s)
		switch {
		case err != nil:
			return nil, false
		case text == "":
			blank = true
		case !proper(text):
			return nil, false
		}
		segments = append(segments, text)
	}
	if blank {
		return nil, true
	}
	return segments, true
}

func proper(text string) bool {
	if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '/' || c == '\\' }) {
		// Servers of Java drop what follows a semicolon first.
		if part, _, _ = strings.Cut(part, ";"); part == "." || part == ".." {
			return false
		}
	}
	return true
}
