// Package pathspelling lists the ways in which servers may read a request path. Some decode it more than once, ignore
// path parameters, take a backslash for a slash, or cut off dots and spaces at the end of a segment. So paths that are
// spelled differently can lead to the same place. What a path is allowed to do is decided elsewhere.
package pathspelling

import (
	"iter"
	"strings"
	"unicode"
)

const (
	// maxDecodings bounds how many results of decoding are returned.
	maxDecodings = 8
	// maxDecoded bounds their total length in bytes, because an attacker can send long paths at little cost. Two are
	// returned whatever the length.
	maxDecoded = 4 << 10
)

// Decoded returns a path, which a server has decoded once, followed by the results of decoding it again and again. all
// is false if the last result still has escapes: the path has more layers of them than are decoded.
func Decoded(path string) (decoded []string, all bool) {
	length := 0
	for len(decoded) < maxDecodings && (len(decoded) < 2 || length < maxDecoded) {
		decoded, length = append(decoded, path), length+len(path)
		next := decode(path)
		if next == path {
			return decoded, true
		}
		path = next
	}
	return decoded, false
}

// Readings returns the paths that servers may read in a decoded path: the path as it is, the path with its dot segments
// resolved, and what follows an authority; the same for what is in front of a "?" or "#", which servers cut off that
// decode a path first. They are without empty segments, path parameters and everything else that some servers drop. A
// slash at the end stays.
func Readings(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if IsPlain(path) {
			yield(path)
			return
		}
		_ = yieldWhole(path, yield) && yieldFront(path, '?', yield) && yieldFront(path, '#', yield)
	}
}

// yieldWhole yields the readings of a path that nothing is cut off from.
func yieldWhole(path string, yield func(string) bool) bool {
	return yield(plain(path)) && yield(plain(resolveDots(path))) && yieldRest(path, yield)
}

// yieldFront yields the readings of what is in front of a mark, if there is one.
func yieldFront(path string, mark byte, yield func(string) bool) bool {
	end := strings.IndexByte(path, mark)
	return end < 0 || yieldWhole(path[:end], yield)
}

// yieldRest yields the path that servers find if they parse a request's target as a reference (RFC 3986 section 4.2):
// for //host/token, PHP's parse_url returns /token.
func yieldRest(path string, yield func(string) bool) bool {
	rest := strings.TrimLeft(path, `/\`)
	end := strings.IndexAny(rest, `/\`)
	if len(path)-len(rest) < 2 || end < 0 {
		return true
	}
	return yield(plain(rest[end:])) && yield(plain(resolveDots(rest[end:])))
}

// IsPlain reports whether a path has no other spelling: no escapes, and itself as its only reading. It is quick, and
// true of nearly all requests.
func IsPlain(path string) bool {
	last := byte(0)
	for i := range len(path) {
		c := path[i]
		if c <= ' ' || c > '~' || c == '%' || c == ';' || c == '?' || c == '#' || c == '\\' || c == '/' && (last == '/' || last == '.') {
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

// decode replaces %XX, and %uXXXX as IIS does. Any other percent sign is kept.
func decode(path string) string {
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
