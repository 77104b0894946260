package pathpattern

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Pattern is a client's path: literal segments and placeholders.
type Pattern struct {
	Text     string // without the expressions of placeholders
	Segments []Segment
	Names    []string // of the placeholders, in order
}

// Segment is one segment of a pattern.
type Segment struct {
	Text  string // the literal, or the placeholder's name
	Param bool
	// Value is what a placeholder's value must match. Nil: an identifier.
	Value *Expression
}

// Parse parses a client's path such as /articles/{id:[0-9]+}.
func Parse(text string) (Pattern, error) {
	var p Pattern
	rest, ok := strings.CutPrefix(text, "/")
	if !ok || rest == "" {
		return p, fmt.Errorf("path %q: expected /, words, and placeholders such as /articles/{id}", text)
	}
	for _, s := range cutSegments(rest) {
		part := Segment{Text: s}
		if name, expression, given, ok := cutPlaceholder(s); ok {
			part = Segment{Text: name, Param: true}
			if slices.Contains(p.Names, part.Text) {
				return p, fmt.Errorf("path %q: the placeholder {%s} stands in it twice, expected each once", text, part.Text)
			}
			if given {
				var err error
				if part.Value, err = parseExpression(expression); err != nil {
					return p, fmt.Errorf("path %q: placeholder {%s}: %w", text, part.Text, err)
				}
			}
			p.Names = append(p.Names, part.Text)
			s = "{" + part.Text + "}"
		} else if !isLiteral(s) || s == "." || s == ".." {
			return p, fmt.Errorf("path %q: segment %q: expected a word of letters, digits and -._~, or a placeholder such as {id}", text, s)
		}
		p.Text += "/" + s
		p.Segments = append(p.Segments, part)
	}
	return p, nil
}

// cutPlaceholder takes {name} or {name:expression} apart.
func cutPlaceholder(segment string) (name, expression string, given, ok bool) {
	inner, opened := strings.CutPrefix(segment, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	name, expression, given = strings.Cut(inner, ":")
	ok = opened && closed && isName(name) && !strings.Contains(expression, "\n")
	return name, expression, given, ok
}

// isName reports whether a text can name a placeholder: a small letter, then such letters, digits and underscores.
func isName(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', i > 0 && ('0' <= c && c <= '9' || c == '_'):
		default:
			return false
		}
	}
	return text != ""
}

// isLiteral reports whether a text can be a segment of a pattern: letters, digits and -._~.
func isLiteral(text string) bool { return isIdentifier(text) && !strings.ContainsAny(text, ":@") }

// cutSegments splits a path at its slashes, except for those inside an expression.
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

// Extends reports whether p equals other or continues it.
func (p Pattern) Extends(other Pattern) bool {
	if len(p.Segments) < len(other.Segments) {
		return false
	}
	for i, s := range other.Segments {
		if s.Param != p.Segments[i].Param || !s.Param && s.Text != p.Segments[i].Text {
			return false
		}
	}
	return true
}

// EndsInPlaceholder reports whether the last segment is a placeholder.
func (p Pattern) EndsInPlaceholder() bool { return p.Segments[len(p.Segments)-1].Param }

// Accepts reports whether the placeholders may have these decoded values.
func (p Pattern) Accepts(values []string) bool {
	next := 0
	for _, s := range p.Segments {
		if !s.Param {
			continue
		}
		if !s.Accepts(values[next]) {
			return false
		}
		next++
	}
	return true
}

// Fill replaces the placeholders with decoded values, and escapes them.
func (p Pattern) Fill(values []string) string {
	var b strings.Builder
	next := 0
	for _, s := range p.Segments {
		b.WriteByte('/')
		if s.Param {
			b.WriteString(url.PathEscape(values[next]))
			next++
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// Expressions returns what the values of the placeholders must match, whole: regular expressions in
// RE2's syntax without anchors, in the order of the placeholders.
func (p Pattern) Expressions() []string {
	var all []string
	for _, s := range p.Segments {
		if s.Param {
			all = append(all, s.expression())
		}
	}
	return all
}

// Accepts reports whether the placeholder may have the decoded value. Without an expression it
// accepts identifiers alone, so that nothing reaches an upstream that could mean several resources
// or another address there: a slash, a bar or a comma, a percent sign, a space.
func (s Segment) Accepts(value string) bool {
	if s.Value == nil {
		return isIdentifier(value)
	}
	return s.Value.matches(value)
}

// expression returns the regular expression that the values of a placeholder match, unanchored.
func (s Segment) expression() string {
	if s.Value == nil {
		return identifier
	}
	return strings.TrimSuffix(strings.TrimPrefix(s.Value.String(), `\A(?:`), `)\z`)
}
