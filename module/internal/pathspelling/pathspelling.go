// Package pathspelling tells what servers take a request path for. They decode it more than once, skip path
// parameters, read a backslash as a slash or cut off blanks at the end of a segment, and so read paths as the same that
// are written differently. What the spellings of a path mean is decided elsewhere.
package pathspelling

import (
	"iter"
	"strings"
	"unicode"
)

const (
	// maxDecodings is how often a path is decoded to see what it stands for.
	maxDecodings = 8
	// maxDecoded is how many bytes all that decoding returns may have, so that a long path does not take long. A path
	// is decoded twice whatever its length.
	maxDecoded = 4 << 10
)

// Decoded returns a path, decoded once, and what further decoding makes of it. all is false if the last one still has
// escapes, because the path has too many layers of them for its length.
func Decoded(path string) (decoded []string, all bool) {
	length := 0
	for len(decoded) < maxDecodings && (len(decoded) < 2 || length < maxDecoded) {
		decoded, length = append(decoded, path), length+len(path)
		next := Decode(path)
		if next == path {
			return decoded, true
		}
		path = next
	}
	return decoded, false
}

// Readings returns what servers take a decoded path for: as it is written, with its dot segments resolved, and what
// follows an authority. None of them has empty segments, path parameters or anything else that some servers drop; a
// slash at the end stays.
func Readings(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if isPlain(path) {
			yield(path)
			return
		}
		_ = yield(plain(path)) && yield(plain(resolveDots(path))) && yieldRest(path, yield)
	}
}

// yieldRest yields what servers take for the path that read a request's target as a reference: of //host/token, PHP's
// parse_url says that the path is /token (RFC 3986 section 4.2).
func yieldRest(path string, yield func(string) bool) bool {
	rest := strings.TrimLeft(path, `/\`)
	end := strings.IndexAny(rest, `/\`)
	if len(path)-len(rest) < 2 || end < 0 {
		return true
	}
	return yield(plain(rest[end:])) && yield(plain(resolveDots(rest[end:])))
}

// isPlain reports whether a path has only one reading: itself.
func isPlain(path string) bool {
	last := byte(0)
	for i := range len(path) {
		c := path[i]
		if c <= ' ' || c > '~' || c == ';' || c == '\\' || c == '/' && (last == '/' || last == '.') {
			return false
		}
		last = c
	}
	return path != "" && path[0] == '/' && last != '.'
}

// plain removes from a path what some servers drop.
func plain(path string) string {
	var b strings.Builder
	b.Grow(len(path) + 1)
	dropped := true // the last segment
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		segment = trim(segment)
		if dropped = segment == ""; !dropped {
			b.WriteByte('/')
			b.WriteString(segment)
		}
	}
	if dropped {
		b.WriteByte('/')
	}
	return b.String()
}

// trim removes from a segment what some servers drop.
func trim(segment string) string {
	for i := range len(segment) {
		if c := segment[i]; c == ';' || c == 0 {
			segment = segment[:i]
			break
		}
	}
	if segment == "" || '/' <= segment[len(segment)-1] && segment[len(segment)-1] <= '~' {
		return segment
	}
	return strings.TrimRightFunc(segment, func(c rune) bool { return c == '.' || unicode.IsSpace(c) || unicode.IsControl(c) })
}

// resolveDots removes dot segments, as RFC 3986 section 5.2.4 does.
func resolveDots(path string) string {
	kept := make([]string, 0, strings.Count(path, "/")+2)
	dropped := false // the last segment
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		name, _, _ := strings.Cut(segment, ";")
		dropped = name == "" || name == "." || name == ".."
		switch {
		case !dropped:
			kept = append(kept, segment)
		case name == "..":
			kept = kept[:max(0, len(kept)-1)]
		}
	}
	if dropped && len(kept) > 0 {
		kept = append(kept, "")
	}
	return "/" + strings.Join(kept, "/")
}

// Decode decodes %XX, and %uXXXX as IIS does. Any other percent sign is kept.
func Decode(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	b.Grow(len(path))
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			b.WriteByte(path[i])
			continue
		}
		rest := path[i+1:]
		if len(rest) >= 5 && rest[0]|0x20 == 'u' {
			if n, ok := readHex(rest[1:5]); ok {
				b.WriteRune(n)
				i += 5
				continue
			}
		}
		if len(rest) >= 2 {
			if n, ok := readHex(rest[:2]); ok {
				b.WriteByte(byte(n)) //nolint:gosec // 8 bits
				i += 2
				continue
			}
		}
		b.WriteByte('%')
	}
	return b.String()
}

// readHex reads a few hexadecimal digits.
func readHex(digits string) (n rune, ok bool) {
	for i := range len(digits) {
		switch c := rune(digits[i]); {
		case '0' <= c && c <= '9':
			n = n<<4 | (c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | (c | 0x20 - 'a' + 10)
		default:
			return 0, false
		}
	}
	return n, true
}
