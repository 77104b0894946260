package watch

import (
	"strings"
	"unicode"
)

// redacted replaces what may be a credential.
const redacted = "REDACTED"

// shorten bounds the texts of a decision, which clients choose, and redacts its path.
func (d *Decision) shorten() {
	d.Method, d.Host = clip(d.Method, maxMethod), clip(d.Host, maxHost)
	d.Client, d.User = clip(d.Client, maxID), clip(d.User, maxID)
	d.Path = clip(redactPath(d.Path), maxPath)
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// redactPath removes what is no part of a route: path parameters, where old applications have the id of a
// session (`;jsessionid=`), and segments that look like tokens.
func redactPath(path string) string {
	if len(path) <= minToken && !strings.Contains(path, ";") {
		return path
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		name, _, parameters := strings.Cut(s, ";")
		if looksRandom(name) {
			name = redacted
		}
		if parameters {
			name += ";" + redacted
		}
		segments[i] = name
	}
	return strings.Join(segments, "/")
}

// minToken is the length, in bytes, from which a segment may be a token: our shortest secrets have 22 characters.
const minToken = 20

// looksRandom reports whether a segment looks like a token: a JWT, or letters of both cases and digits that
// alternate as they do in no word, name or date. A UUID or a hexadecimal id has one case only and is shown.
func looksRandom(s string) bool {
	if len(s) <= minToken {
		return false
	}
	if strings.HasPrefix(s, "eyJ") {
		return true
	}
	const lower, upper, digit = 1, 2, 4
	seen, last, changes := 0, 0, 0
	for _, c := range s {
		kind := 0
		switch {
		case unicode.IsLower(c):
			kind = lower
		case unicode.IsUpper(c):
			kind = upper
		case unicode.IsDigit(c):
			kind = digit
		}
		if kind != 0 && last != 0 && kind != last {
			changes++
		}
		seen, last = seen|kind, kind
	}
	const often = 4 // in one of so many places; random text changes in more than every second
	return seen&(lower|upper) == lower|upper && changes*often > len(s)
}
