package headers

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// isUsual reports whether a field passes unless the owner says more. Everything else that an
// upstream sends is about itself (Server, X-Powered-By), about its own clients and addresses
// (Set-Cookie, Refresh, Link), or is the gateway's to say (Access-Control-*, Allow).
func isUsual(name string) bool {
	switch name { // a switch is three times as fast as a map, and this is asked of each field
	case // the content
		"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Range", "Content-Location",
		"Content-Digest", "Repr-Digest", "Digest", "Content-Md5", "Accept-Ranges", "Last-Modified", "Etag",
		"Location", "X-Content-Type-Options", "Trailer", "Transfer-Encoding", "Preference-Applied",
		// caching
		"Cache-Control", "Cdn-Cache-Control", "Expires", "Age", "Vary", "Pragma", "Date",
		// limits
		"Retry-After", "Ratelimit",
		// request ids
		"X-Request-Id", "Request-Id", "X-Correlation-Id":
		return true
	}
	return false
}

// IsDigest reports whether a field identifies the bytes of a resource. The name is canonical.
func IsDigest(name string) bool {
	switch name {
	case "Etag", "Content-Digest", "Repr-Digest", "Digest", "Content-Md5":
		return true
	}
	return false
}

// usualPrefixes begin further names that pass.
var usualPrefixes = []string{"X-Ratelimit-", "Ratelimit-"}

// page are the fields with which a page or a download protects itself. Without them a file
// that a user uploaded could run as a script on the API's host.
var page = map[string]bool{
	"Content-Disposition": true, "Content-Security-Policy": true, "Content-Security-Policy-Report-Only": true, "Cross-Origin-Embedder-Policy": true,
	"Cross-Origin-Opener-Policy": true, "Cross-Origin-Resource-Policy": true, "Permissions-Policy": true, "Referrer-Policy": true, "X-Frame-Options": true,
}

// protocol are the fields of an answer that changes the protocol (101).
var protocol = map[string]bool{
	"Connection": true, "Upgrade": true, "Sec-Websocket-Accept": true, "Sec-Websocket-Protocol": true, "Sec-Websocket-Extensions": true,
}

// hopByHop belong to one connection; no owner can have them passed on.
var hopByHop = []string{"Connection", "Content-Length", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// Answer is what is known of the answer that the fields belong to.
type Answer struct {
	Status int
	// Page: it is no result of the API but a page or a download that passes as it is.
	Page bool
}

// Set are the fields that pass. The nil Set has the usual ones.
type Set struct {
	all      bool
	names    map[string]bool
	prefixes []string
}

var form = regexp.MustCompile("^[!#$%&'+.^_`|~0-9A-Za-z-]+\\*?$")

// maxNamed bounds how many fields an owner can name.
const maxNamed = 100

// New is the set of the usual fields and those that are named: `X-WP-Total`, `X-WP-*` for all
// that begin so, or `*` for every field.
func New(named []string) (*Set, error) {
	if len(named) == 0 {
		return nil, nil
	}
	if len(named) > maxNamed {
		return nil, fmt.Errorf("header_down: %d fields, expected at most %d", len(named), maxNamed)
	}
	s := &Set{names: make(map[string]bool)}
	for i, name := range named {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case slices.ContainsFunc(named[:i], func(other string) bool { return strings.EqualFold(other, name) }):
			return nil, fmt.Errorf("header_down: %s is given twice", name)
		case name == "*":
			s.all = true
		case !form.MatchString(name):
			return nil, fmt.Errorf("header_down: invalid name '%s', expected names of header fields such as X-WP-Total, X-WP-* or *", name)
		case slices.Contains(hopByHop, canonical):
			return nil, fmt.Errorf("header_down: %s is the connection's and cannot be passed on, expected names of other header fields", name)
		case (*Set)(nil).Passes(canonical, Answer{}):
			return nil, fmt.Errorf("header_down: %s passes anyway, expected names of fields that do not", name)
		case strings.HasSuffix(name, "*"):
			s.prefixes = append(s.prefixes, http.CanonicalHeaderKey(strings.TrimSuffix(name, "*")))
		default:
			s.names[canonical] = true
		}
	}
	return s, nil
}

// Named reports whether the owner has named a field. The name is canonical.
func (s *Set) Named(name string) bool {
	return s != nil && (s.all || s.names[name] || slices.ContainsFunc(s.prefixes, func(p string) bool { return strings.HasPrefix(name, p) }))
}

// Passes reports whether a field of an answer reaches the client. The name is canonical.
func (s *Set) Passes(name string, a Answer) bool {
	switch {
	case isUsual(name), s.Named(name), a.Page && page[name]:
		return true
	case name == "Www-Authenticate":
		return a.Status == http.StatusUnauthorized // which must have it (RFC 9110 section 15.5.2)
	case a.Status == http.StatusSwitchingProtocols:
		return protocol[name]
	}
	return strings.HasPrefix(name, usualPrefixes[0]) || strings.HasPrefix(name, usualPrefixes[1])
}
