package guard

import (
	"cmp"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// normalPath is a path in the one form that is judged and passed on. A spelling that some
// upstream reads as another path is refused instead: there is no safe guess whether it heeds
// a dot segment, a ";" or a second decoding.
type normalPath struct {
	escaped string // as sent upstream: unreserved characters decoded, hex in capitals
	decoded string
	judged  string // decoded, with NUL for each encoded slash
	slash   bool   // an encoded slash is in it

	// fronts are what is in front of an encoded "?" and in front of an encoded "#". Upstreams that decode a path before
	// they cut off the query or the fragment read one of these. Most paths have none.
	fronts []normalPath
}

// plainBytes are those that Go's default escaping leaves as they are.
var plainBytes = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~$&+,=:@/") {
		t[c] = true
	}
	return t
}()

// reservedBytes are those that a path may hold unescaped (RFC 3986 section 3.3). They stay as
// the client wrote them, escaped or not.
const reservedBytes = "!$&'()*+,=:@"

func normalizePath(u *url.URL) (n normalPath, fault string) {
	if u.RawPath == "" && isPlain(u.Path) {
		return normalPath{escaped: u.Path, decoded: u.Path, judged: u.Path}, ""
	}
	return normalizeEscaped(escapedPath(u))
}

// isPlain reports whether the path is normal already, as it is in nearly every request.
func isPlain(p string) bool {
	if p == "" || p[0] != '/' {
		return false
	}
	segment := 1
	for i := 1; i < len(p); i++ {
		if !plainBytes[p[i]] {
			return false
		}
		if p[i] == '/' {
			if s := p[segment:i]; s == "" || s == "." || s == ".." {
				return false
			}
			segment = i + 1
		}
	}
	last := p[segment:]
	return last != "." && last != ".."
}

// escapedPath returns the path as the client escaped it. A RawPath that does not belong to Path
// is left over from before a rewrite. (URL.EscapedPath is not used for the others:
// for "/a%2Fb{" it gives "/a/b%7B".)
func escapedPath(u *url.URL) string {
	if u.RawPath != "" {
		if p, err := url.PathUnescape(u.RawPath); err == nil && p == u.Path {
			return u.RawPath
		}
	}
	return (&url.URL{Path: u.Path}).EscapedPath()
}

func normalizeEscaped(s string) (n normalPath, fault string) {
	if s == "" || s[0] != '/' {
		return n, "the path must begin with a slash"
	}
	escaped, judged := make([]byte, 0, len(s)+8), make([]byte, 0, len(s))
	marked := false
	for i := 0; i < len(s); i++ {
		c, coded := s[i], false
		if c == '%' {
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return n, "the path contains a malformed percent-encoding"
			}
			c, coded = unhex(s[i+1])<<4|unhex(s[i+2]), true
			i += 2
		}
		switch {
		case c < 0x20 || c == 0x7f:
			return n, "the path contains a control character"
		case c == '\\':
			return n, "the path contains a backslash"
		case c == ';':
			return n, "the path contains a semicolon"
		case c == '#' && !coded:
			return n, "the path contains a fragment"
		case c == '?' || c == '#':
			marked = true
			escaped = append(escaped, '%', upperHex[c>>4], upperHex[c&15])
		case c == '/' && coded:
			n.slash = true
			escaped, judged = append(escaped, "%2F"...), append(judged, 0)
			continue
		case c == '/' || isUnreserved(c) || !coded && strings.IndexByte(reservedBytes, c) >= 0:
			escaped = append(escaped, c)
		default:
			escaped = append(escaped, '%', upperHex[c>>4], upperHex[c&15])
		}
		judged = append(judged, c)
	}
	n.escaped, n.judged, n.decoded = string(escaped), string(judged), string(judged)
	if n.slash {
		n.decoded = decodeSlashes(n.judged)
	}
	fault = n.fault()
	if marked {
		n.fronts = n.inFrontOfMarks()
	}
	for _, front := range n.fronts {
		fault = cmp.Or(fault, front.fault())
	}
	return n, fault
}

// decodeSlashes returns a path with "/" for each encoded slash.
func decodeSlashes(judged string) string { return strings.ReplaceAll(judged, "\x00", "/") }

// inFrontOfMarks returns the fronts of a path.
func (n normalPath) inFrontOfMarks() (fronts []normalPath) {
	for _, mark := range [][2]string{{"?", "%3F"}, {"#", "%23"}} {
		if judged, _, found := strings.Cut(n.judged, mark[0]); found {
			escaped, _, _ := strings.Cut(n.escaped, mark[1])
			fronts = append(fronts, normalPath{escaped: escaped, judged: judged, decoded: decodeSlashes(judged), slash: strings.Contains(judged, "\x00")})
		}
	}
	return fronts
}

// OtherReadings returns the other paths, escaped, that some upstreams read in the path of u and whose rules apply as well.
func OtherReadings(u *url.URL) (paths []string) {
	n, _ := normalizePath(u)
	for _, front := range n.fronts {
		paths = append(paths, front.escaped)
	}
	return paths
}

func (n normalPath) fault() string {
	if !utf8.ValidString(n.decoded) {
		return "the path is not UTF-8"
	}
	if strings.Contains(n.judged, "//") {
		return "the path contains an empty segment"
	}
	for s := range strings.SplitSeq(n.decoded, "/") {
		if s == "." || s == ".." {
			return "the path contains a dot segment"
		}
	}
	for i, c := range n.decoded {
		if unicode.IsControl(c) {
			return "the path contains a control character"
		}
		if c == '%' && decodesAgain(n.decoded[i+1:]) {
			return "the path is percent-encoded twice"
		}
	}
	return ""
}

// decodesAgain reports whether what follows a decoded "%" makes it an escape for an
// upstream that decodes once more, IIS's %u escapes included.
func decodesAgain(after string) bool {
	if after == "" {
		return false
	}
	return after[0]|0x20 == 'u' || len(after) > 1 && isHex(after[0]) && isHex(after[1])
}

const upperHex = "0123456789ABCDEF"

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func isUnreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// SetPath sets the path of u to an escaped path, such as Decision.Path, so that it is sent
// in exactly this form.
func SetPath(u *url.URL, escaped string) {
	path, err := url.PathUnescape(escaped)
	if err != nil {
		path = escaped
	}
	u.Path, u.RawPath = path, ""
	if u.EscapedPath() != escaped {
		u.RawPath = escaped
	}
}
