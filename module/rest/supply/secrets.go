package supply

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Secrets are values that clients must not see.
type Secrets struct {
	plain []string // the results of plainText
}

// leastSecret is how long a secret must be to be searched for.
const leastSecret = 4

// Add adds a value.
func (s *Secrets) Add(value string) {
	if value = plainText(value); len(value) >= leastSecret && !slices.Contains(s.plain, value) {
		s.plain = append(s.plain, value)
	}
}

// In reports whether a text may contain one of the values, verbatim or encoded as in URLs, HTML or
// JSON strings. It always does where the API has cut it off: there may have been one at its end. If that depended
// on how the text ends, a client whose own text is repeated could guess a secret letter by letter.
func (s *Secrets) In(text string) bool {
	if len(s.plain) == 0 {
		return false
	}
	if strings.HasSuffix(text, "…") {
		return true
	}
	for _, spaced := range []bool{false, true} {
		if spaced && !strings.Contains(text, "+") {
			break
		}
		read := unescape(text, spaced)
		if s.in(plainText(read)) || strings.Contains(read, "&") && s.in(plainText(html.UnescapeString(read))) {
			return true
		}
		if again := unescape(read, spaced); again != read && s.in(plainText(again)) { // a URL inside another one
			return true
		}
	}
	return strings.Contains(text, "%") && s.in(plainText(text))
}

func (s *Secrets) in(text string) bool {
	return slices.ContainsFunc(s.plain, func(secret string) bool { return strings.Contains(text, secret) })
}

// plainText returns a text in lower case, with white space reduced to single spaces, as in
// messages, and without backslashes, which escape characters in JSON strings.
func plainText(text string) string {
	text = strings.Map(func(c rune) rune {
		if c == '\\' {
			return -1
		}
		return unicode.ToLower(c)
	}, text)
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
	}), " ")
}

// unescape decodes percent-encoding where it is valid. spaced says that a plus stands for a
// space.
func unescape(text string, spaced bool) string {
	if spaced {
		text = strings.ReplaceAll(text, "+", " ")
	}
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
