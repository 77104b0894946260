package charset

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON escapes all characters of a JSON text that are not ASCII. Every parser reads the
// result alike, whichever charset it assumes.
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
