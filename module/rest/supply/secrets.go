package supply

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Secrets are values that clients must not see.
type Secrets struct {
	plain []string // the results of plainText
}

// leastSecret is the length from which a secret is searched for, in bytes.
const leastSecret = 4

// leftOut matches three dots inside or behind what is no common word: pydantic writes {'key': 's3cr...3t'}. "Please wait..." and
// "a, b, ..." are whole.
var leftOut = regexp.MustCompile(`\.\.\.[^\s.]|[^\s\pL.][^\s.]*\.\.\.`)

// Add adds a value.
func (s *Secrets) Add(value string) {
	if value = plainText(value); len(value) >= leastSecret && !slices.Contains(s.plain, value) {
		s.plain = append(s.plain, value)
	}
}

// In reports whether a text may contain one of the values, verbatim or encoded as in URLs, HTML or
// JSON strings. It always does where the API has left out a part: there may have been one. If that depended on what
// is in front of it, a client whose own text is repeated could guess a secret letter by letter.
func (s *Secrets) In(text string) bool {
	if len(s.plain) == 0 {
		return false
	}
	if strings.Contains(text, "…") {
		return true
	}
	for _, text := range readings(text) {
		if s.written(text) {
			return true
		}
	}
	return false
}

// readings returns a text as it is, and what it says if it is part of a JSON string.
func readings(text string) []string {
	all := []string{text}
	if plain := unescapeUnicode(text); plain != text {
		all = append(all, plain)
	}
	if lines := spaceEscapes.ReplaceAllString(all[len(all)-1], " "); lines != all[len(all)-1] {
		all = append(all, lines) // a \ in front of an n may also be part of a secret
	}
	return all
}

// written is In for a text in which each letter is written as itself.
func (s *Secrets) written(text string) bool {
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

// InMessage is In for a message, which the API may also have shortened with three dots, or with an … that it has escaped. In
// an address they may be anything.
func (s *Secrets) InMessage(text string) bool {
	if len(s.plain) == 0 {
		return false
	}
	said := text
	if strings.ContainsAny(text, `\&`) {
		said = html.UnescapeString(unescapeUnicode(text))
	}
	return strings.Contains(said, "…") || strings.Contains(said, "...") && leftOut.MatchString(said) || s.In(text)
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

// unicodeEscapes matches letters as JSON writes them: the gateway itself sends \u0026 for an ampersand. In JSON inside a text of
// JSON there are more backslashes.
var unicodeEscapes = regexp.MustCompile(`(\\+u[0-9A-Fa-f]{4})+`)

// spaceEscapes matches white space as JSON and Python write it.
var spaceEscapes = regexp.MustCompile(`\\+[nrtfvb]`)

func unescapeUnicode(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	return unicodeEscapes.ReplaceAllStringFunc(text, func(escapes string) string {
		var units []uint16
		for escape := range strings.SplitSeq(escapes, "u") {
			if unit, err := strconv.ParseUint(strings.TrimRight(escape, `\`), 16, 16); err == nil {
				units = append(units, uint16(unit))
			}
		}
		return string(utf16.Decode(units))
	})
}
