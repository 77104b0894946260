package ownpaths

import (
	"strconv"
	"strings"
	"unicode"
)

// Endpoints are the paths of the endpoints below the issuer's path, besides those below
// serverFolders and those of registration.
var Endpoints = []string{
	"/authorize", "/login", "/consent", "/logout", "/account", "/token", "/revoke", "/par", "/device_authorization", "/device",
	"/introspect", "/userinfo", "/.well-known/jwks.json", "/.well-known/openid-configuration",
}

var serverFolders = []string{"/connect", "/sns"}

// Paths tells the request paths that belong to the authorization server from those it leaves to the next handler.
type Paths struct {
	exact   map[string]bool
	folders []string
}

// New returns the paths of an issuer: its endpoints and the metadata document in front of its path (RFC 8414 section
// 3.1). An issuer with a path owns everything below it. registration says whether clients may register themselves.
func New(issuerPath string, registration bool) Paths {
	base := strings.TrimSuffix(issuerPath, "/")
	p := Paths{exact: map[string]bool{foldPath("/.well-known/oauth-authorization-server" + base): true}}
	if base != "" {
		p.folders = []string{foldPath(base)}
		return p
	}
	for _, path := range Endpoints {
		p.exact[foldPath(path)] = true
	}
	p.folders = append(p.folders, serverFolders...)
	if registration {
		p.folders = append(p.folders, "/register")
	}
	return p
}

// Has reports whether a request path, decoded once, is the server's. A path that some server behind this one may take
// for one of ours is ours in every spelling: with another letter case, double slashes, a host in front, dot segments,
// backslashes, path parameters, blanks at the end of a segment, encoded several times, or with the query encoded too.
// Such requests carry codes and credentials, which must not reach an API or its logs.
func (p Paths) Has(path string) bool {
	if isLower(path) {
		return p.hasFolded(path)
	}
	for range maxDecodings {
		if p.hasSpelling(path) || p.hasSpelling(cutAuthority(path)) {
			return true
		}
		decoded := decodePath(path)
		if decoded == path {
			return false
		}
		path = decoded
	}
	return true // nobody has an honest reason to encode a path so often
}

// hasSpelling is Has without decoding.
func (p Paths) hasSpelling(path string) bool {
	if p.hasFolded(foldPath(path)) || p.hasFolded(foldPath(resolveDots(path))) {
		return true
	}
	// A client that encodes its whole address sends the query as part of the path.
	end := strings.IndexAny(path, "?#")
	return end >= 0 && p.hasFolded(foldPath(resolveDots(path[:end])))
}

// cutAuthority returns what servers take for the path that read a request's target as a reference: of //host/token,
// PHP's parse_url says that the path is /token (RFC 3986 section 4.2). Of other paths it returns "".
func cutAuthority(path string) string {
	rest := strings.TrimLeft(path, `/\`)
	if len(path)-len(rest) < 2 {
		return ""
	}
	end := strings.IndexAny(rest, `/\`)
	if end < 0 {
		return ""
	}
	return rest[end:]
}

// maxDecodings is how often a path is decoded to see what it stands for.
const maxDecodings = 8

func (p Paths) hasFolded(path string) bool {
	if p.exact[path] {
		return true
	}
	for _, folder := range p.folders {
		if rest, ok := strings.CutPrefix(path, folder); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// isLower reports that a path is its own folded form, which nearly every path is.
func isLower(path string) bool {
	for i := range len(path) {
		switch c := path[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
		case c == '/' || c == '.': // not at the end of a segment, and no empty one
			if i+1 == len(path) || path[i+1] == '/' || path[i+1] == '.' {
				return false
			}
		default:
			return false
		}
	}
	return path != "" && path[0] == '/'
}

// foldPath gives all spellings of a path, but for encodings and dot segments, the same form.
func foldPath(path string) string {
	var b strings.Builder
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		segment, _, _ = strings.Cut(segment, ";")
		segment, _, _ = strings.Cut(segment, "\x00")
		segment = strings.TrimRightFunc(segment, func(c rune) bool { return c == '.' || unicode.IsSpace(c) || unicode.IsControl(c) })
		if segment == "" {
			continue
		}
		b.WriteByte('/')
		for _, c := range segment {
			// By way of the capital: the long s and the Kelvin sign have none of their own.
			b.WriteRune(unicode.ToLower(unicode.ToUpper(c)))
		}
	}
	return b.String()
}

// resolveDots removes dot segments, as RFC 3986 section 5.2.4 does.
func resolveDots(path string) string {
	var kept []string
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		switch name, _, _ := strings.Cut(segment, ";"); name {
		case "", ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// decodePath decodes %XX, and %uXXXX as IIS does. Any other percent sign is kept.
func decodePath(path string) string {
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
