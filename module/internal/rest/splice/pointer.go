package splice

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Pointer is a JSON Pointer (RFC 6901), split and unescaped. The empty one is the whole document.
type Pointer []string

// maxPointer is the most tokens of a pointer: a deeper place is never reached within the default depth.
const maxPointer = 64

// ParsePointer parses a pointer such as "" or "/a/b".
func ParsePointer(text string) (Pointer, error) {
	switch {
	case text == "":
		return nil, nil
	case text[0] != '/':
		return nil, fmt.Errorf("invalid JSON Pointer '%s', expected one that begins with / such as /result/list", text)
	case !utf8.ValidString(text):
		return nil, fmt.Errorf("invalid JSON Pointer %q, expected UTF-8", text)
	}
	tokens := strings.Split(text[1:], "/")
	if len(tokens) > maxPointer {
		return nil, fmt.Errorf("invalid JSON Pointer '%s', expected at most %d steps", text, maxPointer)
	}
	for i, token := range tokens {
		if at := strings.IndexByte(token, '~'); at >= 0 {
			rest := strings.NewReplacer("~0", "", "~1", "").Replace(token)
			if strings.Contains(rest, "~") {
				return nil, fmt.Errorf("invalid JSON Pointer '%s', expected ~0 for ~ and ~1 for / after a ~", text)
			}
			// In this order: ~01 is ~1, not a slash (RFC 6901 section 4).
			tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		}
	}
	return tokens, nil
}

// String is the text form.
func (p Pointer) String() string {
	var b strings.Builder
	for _, token := range p {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1"))
	}
	return b.String()
}
