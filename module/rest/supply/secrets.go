package supply

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Secrets are values that clients must not see.
type Secrets struct {
	plain []string // the results of plainText
}

// Texts are searched for complete secrets. In a truncated text, the beginning of a secret is
// enough: a client that controls the text in front of a secret controls where it is truncated,
// and could read most of it.
const (
	leastSecret = 4 // shorter secrets are not searched for
	leastHead   = 2 // of the beginning of a secret at the very end of the text
	mostHead    = 8 // of the beginning of a secret anywhere in the text
)

// Add adds a value.
func (s *Secrets) Add(value string) {
	if value = plainText(value); len(value) >= leastSecret && !slices.Contains(s.plain, value) {
		s.plain = append(s.plain, value)
	}
}

// In reports whether a text contains one of the values, verbatim or encoded as in URLs, HTML or
// JSON strings.
func (s *Secrets) In(text string) bool {
	if len(s.plain) == 0 {
		return false
	}
	text, cut := strings.CutSuffix(text, "…")
	if s.written(text, cut) {
		return true
	}
	whole := brokenEscape.ReplaceAllString(text, "")
	return cut && whole != text && s.written(whole, cut)
}

// brokenEscape matches what is left of an escape sequence at the end of a truncated text.
var brokenEscape = regexp.MustCompile(`(%[0-9A-Fa-f]?|&#?[0-9A-Za-z]{0,8})$`)

// written is In for a text that may be truncated.
func (s *Secrets) written(text string, cut bool) bool {
	for _, spaced := range []bool{false, true} {
		if spaced && !strings.Contains(text, "+") {
			break
		}
		read := unescape(text, spaced)
		if s.in(plainText(read), cut) || strings.Contains(read, "&") && s.in(plainText(html.UnescapeString(read)), cut) {
			return true
		}
		if again := unescape(read, spaced); again != read && s.in(plainText(again), cut) { // a URL inside another one
			return true
		}
	}
	return strings.Contains(text, "%") && s.in(plainText(text), cut)
}

func (s *Secrets) in(text string, cut bool) bool {
	for _, secret := range s.plain {
		if strings.Contains(text, secret) || cut && begins(text, secret) {
			return true
		}
	}
	return false
}

// begins reports whether a truncated text contains the beginning of a secret.
func begins(text, secret string) bool {
	head := secret[:max(leastSecret, min(mostHead, len(secret)/2))]
	if strings.Contains(text, head) {
		return true
	}
	for n := len(head) - 1; n >= leastHead; n-- {
		if strings.HasSuffix(text, head[:n]) {
			return true
		}
	}
	return false
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
