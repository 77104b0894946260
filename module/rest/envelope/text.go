package envelope

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Maximum lengths, in characters.
const (
	maxHeading = 200 // of texts taken from HTML and plain text
	maxMessage = 500
	maxField   = 128
)

// htmlHeading returns the text of the title, or else of the first h1, unless it is just "Error".
// A tokenizer is sufficient and, unlike a parser, keeps no tree in memory.
func htmlHeading(text []byte) string {
	z := html.NewTokenizer(bytes.NewReader(text))
	z.SetMaxBuf(maxBody)
	heading := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return heading
		case html.StartTagToken:
			switch name, _ := z.TagName(); string(name) {
			case "title":
				if s := textUntil(z, "title"); s != "" && !strings.EqualFold(s, "error") {
					return s
				}
			case "h1":
				if s := textUntil(z, "h1"); heading == "" && !strings.EqualFold(s, "error") {
					heading = s
				}
			}
		}
	}
}

func textUntil(z *html.Tokenizer, end string) string {
	var b strings.Builder
	for b.Len() < 4*maxHeading {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.TextToken:
			b.Write(z.Text())
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == end {
				return strings.TrimSpace(b.String())
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// safeText returns the text as one line, or "" if it must not reach the client.
func safeText(s string) string {
	if leaks(s) {
		return ""
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
	}), " ")
}

// shorten returns at most n characters of a text. Whether a text may be told is decided before:
// a client that chooses what stands in front of a secret would choose how much of it is left.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:n-1]) + "…"
	}
	return s
}

// safeField returns "" for what cannot be the name of a parameter.
func safeField(s string) string {
	if utf8.RuneCountInString(s) > maxField || leaks(s) || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return ""
	}
	return s
}
