package ownpaths

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gatehouse/gatehouse/module/internal/pathspelling"
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
	p := Paths{exact: map[string]bool{foldCase("/.well-known/oauth-authorization-server" + base): true}}
	if base != "" {
		p.folders = []string{foldCase(base)}
		return p
	}
	for _, path := range Endpoints {
		p.exact[foldCase(path)] = true
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
	spellings, all := pathspelling.Decoded(path)
	return !all || slices.ContainsFunc(spellings, p.hasSpelling) // nobody has an honest reason to encode a path too often
}

// hasSpelling is Has without decoding.
func (p Paths) hasSpelling(path string) bool {
	for reading := range pathspelling.Readings(path) {
		if p.hasFolded(foldCase(reading)) {
			return true
		}
	}
	return false
}

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

// foldCase gives a path the same form in every letter case, with and without a slash at its end.
func foldCase(path string) string {
	return strings.Map(func(c rune) rune {
		// By way of the capital: the long s and the Kelvin sign have none of their own.
		return unicode.ToLower(unicode.ToUpper(c))
	}, strings.TrimSuffix(path, "/"))
}
