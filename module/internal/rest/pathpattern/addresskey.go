package pathpattern

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Key returns a key that is among the [AddressKeys] of every address that [Template.Unfill] accepts, so that a
// template need not be compared with all addresses. It is made of the first literal segment of the path and of the
// first parameter with a literal value. Only ASCII is compared: how other text is written depends on a charset.
func (t *Template) Key() string {
	path, query, _ := strings.Cut(t.Text, "?")
	segments, key := strings.Split(path, "/"), ""
	for i, segment := range segments[:min(len(segments), maxSegments)] {
		if text, ok := literalText(segment); ok && text != "" {
			key = segmentKey(len(segments), i, text)
			break
		}
	}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		if text, ok := literalText(value); ok && err == nil && part != "" {
			return key + parameterKey(name, text)
		}
	}
	return key
}

// AddressKeys returns the keys of an address: those of templates that could fill to it.
func AddressKeys(path string, query url.Values) []string {
	keys := []string{""}
	segments := strings.Split(path, "/")
	for i, segment := range segments[:min(len(segments), maxSegments)] {
		if text, err := url.PathUnescape(segment); err == nil && text != "" {
			keys = append(keys, segmentKey(len(segments), i, withoutBOM(text)))
		}
	}
	for _, key := range keys {
		for name, values := range query {
			if len(values) == 1 {
				keys = append(keys, key+parameterKey(name, withoutBOM(values[0])))
			}
		}
	}
	return keys
}

func segmentKey(segments, at int, text string) string {
	return fmt.Sprintf("%d/%d/%s", segments, at, text)
}

func parameterKey(name, value string) string { return fmt.Sprintf("?%q=%s", name, value) }

// literalText returns the text of a part of a template without a placeholder, if it is in ASCII.
func literalText(part string) (string, bool) {
	text, err := url.QueryUnescape(part) // as Unfill does
	ascii := !strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf })
	return text, err == nil && ascii && !strings.ContainsAny(part, "{}")
}

// withoutBOM removes what decoding a charset removes too.
func withoutBOM(text string) string { return strings.TrimPrefix(text, "\ufeff") }
