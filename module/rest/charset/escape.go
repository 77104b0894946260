package charset

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON writes JSON in ASCII, with escapes for all other characters. Every parser reads those
// alike, whatever charset it takes the bytes for.
func EscapeJSON(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, c := range text {
		switch {
		case c < utf8.RuneSelf:
			b.WriteByte(byte(c))
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}
