package guard

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// sameInAnyCase reports whether some upstream takes two segments for the same because it ignores case.
func sameInAnyCase(a, b string) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i]|b[i] >= utf8.RuneSelf {
			return bytes.Equal(appendFolded(nil, a[i:]), appendFolded(nil, b[i:]))
		}
		if upperASCII(a[i]) != upperASCII(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// appendFolded appends a text such that two texts are appended alike if sameInAnyCase takes them for the same. Some upstreams
// compare what strings.ToLower or strings.ToUpper makes of a path, others what Unicode's full folding does: for them ß is SS and
// ﬁ is FI. Beyond both, İ becomes i and ı becomes I in some languages.
func appendFolded(dst []byte, text string) []byte {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			for _, r := range text[i:] {
				if r == 'İ' || r == 'ı' {
					dst = append(dst, 'I')
					continue
				}
				for _, folded := range cases.Fold().String(string(r)) {
					dst = utf8.AppendRune(dst, foldRune(folded))
				}
			}
			return dst
		}
		dst = append(dst, upperASCII(c))
	}
	return dst
}

func upperASCII(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// foldRune returns the same character for all that upstreams may take for each other when they ignore case: the least of
// those that Unicode's simple folding joins.
func foldRune(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return least
}
