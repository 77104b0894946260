package guard

import (
	"unicode"
	"unicode/utf8"
)

// sameInAnyCase reports whether some upstream takes two segments for the same because it ignores case.
func sameInAnyCase(a, b string) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i]|b[i] >= utf8.RuneSelf {
			return sameRunesInAnyCase(a[i:], b[i:])
		}
		if upperASCII(a[i]) != upperASCII(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

func sameRunesInAnyCase(a, b string) bool {
	for a != "" && b != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y && foldRune(x) != foldRune(y) {
			return false
		}
		a, b = a[n:], b[m:]
	}
	return a == b
}

// appendFolded appends a text such that two texts are appended alike if sameInAnyCase takes them for the same.
func appendFolded(dst []byte, text string) []byte {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			for _, r := range text[i:] {
				dst = utf8.AppendRune(dst, foldRune(r))
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
// those that Unicode's simple folding joins. Some compare what strings.ToLower or strings.ToUpper makes of a path. In all
// of Unicode only two characters are then the same as another that simple folding keeps apart: İ becomes i, ı becomes I.
func foldRune(r rune) rune {
	if r == 'İ' || r == 'ı' {
		return 'I'
	}
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return least
}
