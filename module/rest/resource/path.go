package resource

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a client's path: literal segments and placeholders.
type pattern struct {
	text     string // without the expressions of placeholders
	segments []segment
	names    []string // of the placeholders, in order
}

type segment struct {
	text  string // the literal, or the placeholder's name
	param bool
	fits  *expression // what a placeholder's value must be; nil: an identifier
}

var (
	placeholder = regexp.MustCompile(`^\{([a-z][a-z0-9_]*)(?::(.*))?\}$`)
	literal     = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)
)

// identifier is the expression of isIdentifier.
const identifier = "[A-Za-z0-9._~:@-]+"

// isIdentifier reports whether a text is made of what ids are usually made of. It is asked
// of each element of a list with links, where a regular expression costs more than the rest.
func isIdentifier(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '~', c == ':', c == '@', c == '-':
		default:
			return false
		}
	}
	return text != ""
}

// maxExpression bounds what a value is matched against, in bytes.
const maxExpression = 256

// takes reports whether the placeholder may have the value, which is decoded. Everything
// else that could mean more than one resource to an upstream, or another address, is kept
// from it: a slash, a bar or a comma, a percent sign, a space.
func (s segment) takes(value string) bool {
	if s.fits == nil {
		return isIdentifier(value)
	}
	return s.fits.matches(value)
}

// expression is the regular expression that the values of a placeholder match, unanchored.
func (s segment) expression() string {
	if s.fits == nil {
		return identifier
	}
	return strings.TrimSuffix(strings.TrimPrefix(s.fits.String(), `\A(?:`), `)\z`)
}

func parsePattern(text string) (pattern, error) {
	var p pattern
	rest, ok := strings.CutPrefix(text, "/")
	if !ok || rest == "" {
		return p, fmt.Errorf("path %q: expected /, words, and placeholders such as /articles/{id}", text)
	}
	for _, s := range cutSegments(rest) {
		part := segment{text: s}
		if m := placeholder.FindStringSubmatch(s); m != nil {
			part = segment{text: m[1], param: true}
			if slices.Contains(p.names, part.text) {
				return p, fmt.Errorf("path %q: the placeholder {%s} stands in it twice, expected each once", text, part.text)
			}
			if m[0] != "{"+m[1]+"}" {
				var err error
				if part.fits, err = parseExpression(m[2]); err != nil {
					return p, fmt.Errorf("path %q: placeholder {%s}: %w", text, part.text, err)
				}
			}
			p.names = append(p.names, part.text)
			s = "{" + part.text + "}"
		} else if !literal.MatchString(s) || s == "." || s == ".." {
			return p, fmt.Errorf("path %q: segment %q: expected a word of letters, digits and -._~, or a placeholder such as {id}", text, s)
		}
		p.text += "/" + s
		p.segments = append(p.segments, part)
	}
	return p, nil
}

// cutSegments cuts a path at its slashes, but for those in an expression.
func cutSegments(path string) (segments []string) {
	depth, from := 0, 0
	for i, c := range path {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case '/':
			if depth <= 0 {
				segments = append(segments, path[from:i])
				from = i + 1
			}
		}
	}
	return append(segments, path[from:])
}

func parseExpression(text string) (*expression, error) {
	if text == "" || len(text) > maxExpression {
		return nil, fmt.Errorf("expected an expression of 1 to %d bytes behind the colon, such as {id:[0-9]+}", maxExpression)
	}
	e, err := compileExpression(text)
	if err != nil {
		return nil, fmt.Errorf("%w; expected an expression in RE2's syntax, such as {id:[0-9]+}", err)
	}
	return e, nil
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

// takes reports whether the values, decoded, may stand in place of the placeholders.
func (p pattern) takes(values []string) bool {
	next := 0
	for _, s := range p.segments {
		if !s.param {
			continue
		}
		if !s.takes(values[next]) {
			return false
		}
		next++
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
	if isIdentifier(text) {
		return text != "." && text != ".."
	}
	if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	return !steps(text)
}

// steps reports whether a text has a step through directories in it.
func steps(text string) bool {
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '/' || c == '\\' }) {
		// Servers of Java drop what follows a semicolon first.
		if part, _, _ = strings.Cut(part, ";"); part == "." || part == ".." {
			return true
		}
	}
	return false
}
