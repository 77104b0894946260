package validate

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// walker walks through valid JSON, and need not look for syntax errors.
type walker struct {
	text  []byte
	at    int
	trail []step
	top   Object // the members of the outermost object
}

// step leads to a member or to an element. For an element, name is "" and index counts from 1.
type step struct {
	name  string
	index int
}

func (s step) String() string {
	if s.index > 0 {
		return strconv.Itoa(s.index - 1)
	}
	return s.name
}

// Field is the name of a member in refusals: its own name on the outermost level, its JSON
// Pointer (RFC 6901) below, as in a batch. A name that looks like a pointer is written as one.
func Field(path ...string) string {
	if len(path) == 1 && path[0] != "" && path[0][0] != '/' {
		return path[0]
	}
	var b strings.Builder
	for _, name := range path {
		b.WriteByte('/')
		_, _ = escaper.WriteString(&b, name)
	}
	return b.String()
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// maxField bounds how much of a member's place is echoed, since the client wrote it.
const maxField = 256

func (w *walker) refuse(message string) *envelope.Refusal {
	path := make([]string, len(w.trail))
	for i, s := range w.trail {
		path[i] = s.String()
	}
	return invalid(Field(path...), message)
}

func invalid(field, message string) *envelope.Refusal {
	if len(field) > maxField {
		field = strings.ToValidUTF8(field[:maxField], "") + "..."
	}
	return envelope.Invalid(field, message)
}

func (w *walker) space() {
	for w.at < len(w.text) && (w.text[w.at] == ' ' || w.text[w.at] == '\t' || w.text[w.at] == '\r' || w.text[w.at] == '\n') {
		w.at++
	}
}

// value skips one value.
func (w *walker) value() *envelope.Refusal {
	w.space()
	switch c := w.text[w.at]; {
	case c == '{':
		return w.object()
	case c == '[':
		return w.array()
	case c == '"':
		_, refused := w.string()
		return refused
	case c == '-' || c >= '0' && c <= '9':
		return w.number()
	case c == 'f':
		w.at += len("false")
	default:
		w.at += len("true") // and null
	}
	return nil
}

func (w *walker) object() *envelope.Refusal {
	if refused := w.down(); refused != nil {
		return refused
	}
	seen := make(map[string]struct{})
	for w.at++; ; w.at++ { // past the brace, or a comma
		w.space()
		if w.text[w.at] == '}' {
			break
		}
		name, refused := w.string()
		if refused != nil {
			return refused
		}
		w.trail = append(w.trail, step{name: name})
		if _, twice := seen[name]; twice {
			return w.refuse("is given twice")
		}
		seen[name] = struct{}{}
		w.space()
		w.at++ // the colon
		w.space()
		start := w.at
		if refused := w.value(); refused != nil {
			return refused
		}
		if len(w.trail) == 1 {
			w.top = append(w.top, Member{name, json.RawMessage(w.text[start:w.at])})
		}
		w.trail = w.trail[:len(w.trail)-1]
		w.space()
		if w.text[w.at] == '}' {
			break
		}
	}
	w.at++
	return nil
}

func (w *walker) array() *envelope.Refusal {
	if refused := w.down(); refused != nil {
		return refused
	}
	for i := 1; ; i++ {
		w.at++ // past the bracket, or a comma
		w.space()
		if w.text[w.at] == ']' {
			break
		}
		w.trail = append(w.trail, step{index: i})
		if refused := w.value(); refused != nil {
			return refused
		}
		w.trail = w.trail[:len(w.trail)-1]
		w.space()
		if w.text[w.at] == ']' {
			break
		}
	}
	w.at++
	return nil
}

func (w *walker) down() *envelope.Refusal {
	if len(w.trail) >= MaxDepth {
		return envelope.Refuse(400, "the body is nested too deeply")
	}
	return nil
}

// string skips a string and decodes it.
func (w *walker) string() (string, *envelope.Refusal) {
	start := w.at
	w.at++
	escaped := false
	for ; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			escaped = true
			w.at++
		}
	}
	w.at++
	literal := w.text[start:w.at]
	if !escaped {
		return string(literal[1 : len(literal)-1]), nil
	}
	if half(literal) {
		return "", w.refuse("has half of a surrogate pair in its text")
	}
	return text(literal), nil
}

// text decodes a valid string literal.
func text(literal []byte) string {
	var s string
	_ = json.Unmarshal(literal, &s)
	return s
}

// half reports whether a string has an unpaired escaped surrogate. Some parsers replace it,
// others refuse the whole text.
func half(literal []byte) bool {
	for i := 0; i < len(literal); i++ {
		if literal[i] != '\\' {
			continue
		}
		i++
		if literal[i] != 'u' {
			continue
		}
		switch unit := hex(literal[i+1:]); {
		case unit >= 0xdc00 && unit < 0xe000:
			return true
		case unit >= 0xd800 && unit < 0xdc00:
			next := literal[i+5:]
			if len(next) < 6 || next[0] != '\\' || next[1] != 'u' {
				return true
			}
			if low := hex(next[2:]); low < 0xdc00 || low >= 0xe000 {
				return true
			}
			i += 6
		}
		i += 4
	}
	return false
}

func hex(digits []byte) uint64 {
	n, _ := strconv.ParseUint(string(digits[:4]), 16, 16) // the text is valid
	return n
}
