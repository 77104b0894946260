package envelope

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/gatehouse/gatehouse/module/rest/envelope/leak"
)

// Maximum lengths, in characters.
const (
	maxHeading = 200 // of texts taken from HTML and plain text
	maxMessage = 500
	maxField   = 128
)

// htmlHeading returns the text of the title, or else of the first h1, unless it is just "Error".
// A tokenizer is sufficient and, unlike a parser, keeps no tree in memory. cut says that text is truncated.
func htmlHeading(text []byte, cut bool) string {
	z := html.NewTokenizer(bytes.NewReader(text)) // without SetMaxBuf, which would cut a text without saying so
	heading := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return heading
		case html.StartTagToken:
			switch name, _ := z.TagName(); string(name) {
			case "title":
				if s := textUntil(z, "title", cut); s != "" && !strings.EqualFold(s, "error") {
					return s
				}
			case "h1":
				if s := textUntil(z, "h1", cut); heading == "" && !strings.EqualFold(s, "error") {
					heading = s
				}
			}
		}
	}
}

// textUntil returns the text in front of an end tag, or "" if the page was cut before that: nobody can tell how its last
// word went on.
func textUntil(z *html.Tokenizer, end string, cut bool) string {
	var b strings.Builder
	for b.Len() < 4*maxHeading {
		switch z.Next() {
		case html.ErrorToken:
			if cut {
				return ""
			}
			return strings.TrimSpace(b.String())
		case html.TextToken:
			b.Write(z.Text())
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == end {
				return strings.TrimSpace(b.String())
			}
		}
	}
	if cut && z.Next() == html.ErrorToken {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// safeText returns the text as one line, or "" if it must not reach the client.
func safeText(s string) string {
	line := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
	}), " ")
	if leak.In(s) || leak.In(line) { // s still has its lines, but only its beginning is searched, which may be white space
		return ""
	}
	return line
}

// shorten returns at most n characters of a text. Decide before whether the client may see the text at all: otherwise a
// client that chooses what stands in front of a secret chooses how much of the secret is searched for.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:n-1]) + "…"
	}
	return s
}

// safeField returns "" for what cannot be the name of a parameter.
func safeField(s string) string {
	if utf8.RuneCountInString(s) > maxField || leak.In(s) || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return ""
	}
	return s
}
