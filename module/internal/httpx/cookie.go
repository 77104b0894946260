package httpx

import "strings"

// CookieName is the name of the session cookie. The names of all other cookies of the gateway begin
// with it and a hyphen. Over https, all of them are prefixed with CookiePrefix.
const CookieName = "gatehouse"

// CookiePrefix makes browsers require Secure, Path=/ and no Domain, so that no sibling host can set
// the cookie.
const CookiePrefix = "__Host-"

// IsOurCookie reports whether a cookie of this name belongs to the gateway.
func IsOurCookie(name string) bool {
	name = strings.TrimPrefix(name, CookiePrefix)
	return name == CookieName || strings.HasPrefix(name, CookieName+"-")
}

// browserPrefixes are the prefixes that browsers treat specially, the longest first.
var browserPrefixes = []string{"__Host-Http-", CookiePrefix, "__Secure-", "__Http-"}

// ResemblesOurCookie reports whether a cookie of this name is the gateway's or could be mistaken
// for it: with another of the prefixes, or in another letter case, since browsers compare prefixes
// case-insensitively. It does not allocate.
func ResemblesOurCookie(name string) bool {
	for _, prefix := range browserPrefixes {
		if rest, ok := cutPrefixFold(name, prefix); ok {
			name = rest
			break
		}
	}
	rest, ok := cutPrefixFold(name, CookieName)
	return ok && (rest == "" || rest[0] == '-')
}

func cutPrefixFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
