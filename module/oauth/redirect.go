package oauth

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// MaxRedirectURI is the longest redirect address, in bytes.
const MaxRedirectURI = 2048

// CheckRedirectURI reports why an address may not be registered. native allows
// private-use schemes (RFC 8252 section 7.1) besides https and loopback http.
func CheckRedirectURI(s string, native bool) error {
	if len(s) > MaxRedirectURI {
		return errors.New("is longer than 2048 bytes")
	}
	for i := range len(s) {
		if s[i] <= 0x20 || s[i] >= 0x7f || s[i] == '\\' {
			return errors.New("contains a character that is not allowed in a URL")
		}
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case u.Scheme == "":
		return errors.New("must be absolute, beginning with https://")
	case strings.Contains(s, "#"):
		return errors.New("must not have a fragment")
	case u.User != nil:
		return errors.New("must not contain a user name")
	// The consent page would show it decoded: a letter of another script, or a character
	// that browsers take for a dot after what looks like another host.
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r == '%' || r >= 0x7f }):
		return errors.New("must not have an encoded character in its host: write a name of other letters in its xn-- form")
	case strings.Contains(s, "*"):
		return errors.New("must not contain a wildcard: every address is registered exactly")
	case strings.Contains(strings.ToLower(u.EscapedPath()), "%2f"), hasDotSegment(u.Path):
		return errors.New("must not contain dot segments or an encoded slash")
	}
	switch u.Scheme {
	case "https":
		if u.Hostname() == "" || u.Opaque != "" {
			return errors.New("must name a host")
		}
		return nil
	case "http":
		if !Loopback(u.Hostname()) {
			return errors.New("must be https; http is for loopback addresses only")
		}
		return nil
	}
	// RFC 8252 section 7.1 asks for a reverse domain name; the dot also keeps out every
	// scheme that a browser executes (javascript, data, vbscript, file, blob, about).
	if !native || !strings.Contains(u.Scheme, ".") {
		return errors.New("must be https (or, for a native client, loopback http or a private-use scheme with a dot such as com.example.app)")
	}
	return nil
}

// loopbackPrefixes begin the addresses that match with any port. The host must be the registered one: localhost is
// not 127.0.0.1, because a machine may resolve it to something else (RFC 8252 section 8.3).
var loopbackPrefixes = []string{"http://127.0.0.1", "http://[::1]", "http://localhost"}

// MatchRedirectURI compares a requested address with a registered one: as strings, except that a native client's
// loopback address may have any port (RFC 8252 section 7.3).
func MatchRedirectURI(registered, sent string, native bool) bool {
	if registered == sent {
		return true
	}
	if !native || len(sent) > MaxRedirectURI {
		return false
	}
	for _, prefix := range loopbackPrefixes {
		r, okR := strings.CutPrefix(registered, prefix)
		s, okS := strings.CutPrefix(sent, prefix)
		if okR && okS {
			restR, okR := cutPort(r)
			restS, okS := cutPort(s)
			return okR && okS && restR == restS
		}
	}
	return false
}

// cutPort removes ":digits" from the front; the rest must begin a path or a query.
func cutPort(s string) (rest string, ok bool) {
	if after, found := strings.CutPrefix(s, ":"); found {
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		if digits == 0 || digits > 5 {
			return "", false
		}
		s = after[digits:]
	}
	return s, s == "" || s[0] == '/' || s[0] == '?'
}

// Loopback reports whether a host name (without port) is always this machine.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}

func hasDotSegment(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}
