package supply

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Secrets are values that clients must not be told.
type Secrets struct {
	plain []string // without what plainText leaves out
}

// Of a secret, texts are searched for all of it. Where a text was cut, its beginning is enough: a
// client that chooses what stands in front of a secret chooses where it is cut, and would read
// most of it.
const (
	leastSecret = 4 // a shorter one is not searched for
	leastHead   = 2 // the beginning of one, at the very end of the text
	mostHead    = 8 // anywhere in it
)

// Add notes a value.
func (s *Secrets) Add(value string) {
	if value = plainText(value); len(value) >= leastSecret && !slices.Contains(s.plain, value) {
		s.plain = append(s.plain, value)
	}
}

// In reports whether a text has one of the values in it, as it is or as it is written in an
// address, in HTML or in a text of JSON.
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

// brokenEscape is what is left of a sign that was written as an escape, where a text was cut.
var brokenEscape = regexp.MustCompile(`(%[0-9A-Fa-f]?|&#?[0-9A-Za-z]{0,8})$`)

// written is In for a text of which cut says that more followed.
func (s *Secrets) written(text string, cut bool) bool {
	for _, spaced := range []bool{false, true} {
		if spaced && !strings.Contains(text, "+") {
			break
		}
		read := unescape(text, spaced)
		if s.in(plainText(read), cut) || strings.Contains(read, "&") && s.in(plainText(html.UnescapeString(read)), cut) {
			return true
		}
		if again := unescape(read, spaced); again != read && s.in(plainText(again), cut) { // an address inside another one
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

// begins reports whether the beginning of a secret is in a text that was cut.
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

// plainText is a text in small letters, with single spaces for white space, as messages have it,
// and without backslashes, which stand before signs in texts of JSON.
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

// unescape reads what is percent-encoded, and leaves what is not. spaced says that a plus stands
// for a space.
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
