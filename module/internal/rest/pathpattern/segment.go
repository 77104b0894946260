package pathpattern

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// identifier is the regular expression that isIdentifier implements.
const identifier = "[A-Za-z0-9._~:@-]+"

// isIdentifier reports whether a text consists of the characters that ids usually have. It is called
// for each element of a list with links, where a regular expression would cost more than the rest.
func isIdentifier(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '~', c == ':', c == '@', c == '-':
		default:
			return false
		}
	}
	return text != ""
}

// maxSegments bounds the work on a request's path. Declared paths are shorter.
const maxSegments = 32

// Split returns the decoded segments of an escaped path, nil if no pattern can match it. safe is
// false if some upstream could take a segment for a step through directories or for the end of a
// line.
func Split(escaped string) (segments []string, safe bool) {
	rest, rooted := strings.CutPrefix(escaped, "/")
	unmatched := !rooted || strings.Count(rest, "/") >= maxSegments
	for s := range strings.SplitSeq(rest, "/") {
		text, err := url.PathUnescape(s)
		switch {
		case err != nil:
			return nil, false
		case text == "":
			unmatched = true
		case !IsSafe(text):
			return nil, false
		}
		segments = append(segments, text)
	}
	if unmatched {
		return nil, true
	}
	return segments, true
}

// IsSafe reports whether a decoded text can be one segment of a path: it is not empty, has no
// control characters, and no upstream takes it for a step through directories.
func IsSafe(text string) bool {
	if isIdentifier(text) {
		return text != "." && text != ".."
	}
	if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	return !HasDotSegment(text)
}

// HasDotSegment reports whether a text contains a step through directories: "." or ".." between
// slashes or backslashes.
func HasDotSegment(text string) bool {
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '/' || c == '\\' }) {
		// Java servers drop what follows a semicolon first.
		if part, _, _ = strings.Cut(part, ";"); part == "." || part == ".." {
			return true
		}
	}
	return false
}
