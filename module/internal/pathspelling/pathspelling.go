// Package pathspelling tells what servers take a request path for. They decode it more than once, skip path
// parameters, read a backslash as a slash or cut off blanks at the end of a segment, and so read paths as the same that
// are written differently. What the spellings of a path mean is decided elsewhere.
package pathspelling

import (
	"iter"
	"strconv"
	"strings"
	"unicode"
)

// MaxDecodings is how often a path is decoded to see what it stands for.
const MaxDecodings = 8

// Decoded returns a path, decoded once, and what further decoding makes of it, until it has no more escapes. Of a path
// with too many the last one still has some.
func Decoded(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for range MaxDecodings {
			if !yield(path) {
				return
			}
			decoded := Decode(path)
			if decoded == path {
				return
			}
			path = decoded
		}
	}
}

// Readings returns what servers take a decoded path for: as it is written, with its dot segments resolved, and what
// follows an authority. None of them has empty segments, path parameters or anything else that some servers drop; a
// slash at the end stays.
func Readings(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
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

// plain removes from a path what some servers drop.
func plain(path string) string {
	var b strings.Builder
	dropped := true // the last segment
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		segment, _, _ = strings.Cut(segment, ";")
		segment, _, _ = strings.Cut(segment, "\x00")
		segment = strings.TrimRightFunc(segment, func(c rune) bool { return c == '.' || unicode.IsSpace(c) || unicode.IsControl(c) })
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

// resolveDots removes dot segments, as RFC 3986 section 5.2.4 does.
func resolveDots(path string) string {
	var kept []string
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
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			b.WriteByte(path[i])
			continue
		}
		rest := path[i+1:]
		if len(rest) >= 5 && rest[0]|0x20 == 'u' {
			if n, err := strconv.ParseUint(rest[1:5], 16, 16); err == nil {
				b.WriteRune(rune(n)) //nolint:gosec // 16 bits
				i += 5
				continue
			}
		}
		if len(rest) >= 2 {
			if n, err := strconv.ParseUint(rest[:2], 16, 8); err == nil {
				b.WriteByte(byte(n)) //nolint:gosec // 8 bits
				i += 2
				continue
			}
		}
		b.WriteByte('%')
	}
	return b.String()
}
