package guard

import (
	"net/http"
	"strings"
)

// refererCarriesToken is CarriesToken for the Referer: a browser whose request with a token in
// the query was refused sends the token along with its next request.
func refererCarriesToken(h http.Header) bool {
	for _, referer := range h["Referer"] {
		if _, query, ok := strings.Cut(referer, "?"); ok && CarriesToken(query) {
			return true
		}
	}
	return false
}

// CarriesToken reports whether a query or form has the parameter access_token (RFC 6750 sections 2.2
// and 2.3, forbidden by RFC 9700 section 4.3.2).
func CarriesToken(query string) bool { return carries(query, "access_token") }

// overridesMethod reports whether a query has the parameter `_method`. WordPress runs any request with it as
// one of that method, Laravel, Symfony and Spring a POST.
func overridesMethod(query string) bool { return carries(query, "_method") }

// MayOverrideMethod reports whether some upstream may run a request as one of another method than its own. It does not look
// into the body.
func MayOverrideMethod(r *http.Request) bool {
	if overridesMethod(r.URL.RawQuery) {
		return true
	}
	for name := range r.Header {
		if methodAliases.have(name) {
			return true
		}
	}
	return false
}

var methodAliases = newAliases(methodHeaders)

// carries reports whether a query or form has a parameter, however its name is escaped, repeated or
// capitalized, also as a PHP array or in a spelling that PHP turns into it: blanks in front,
// and `.`, `[` or a blank for `_`. Rack and qs, which Express uses, also read `[access_token]` as access_token,
// and Rack `access_token]`. It does not allocate.
func carries(query, name string) bool {
	at, ok := 0, true // how many bytes of name were seen, and whether the key still matches
	open := false     // whether a bracket stood for the underscore
	for i := 0; i < len(query); i++ {
		c := query[i]
		if c == '&' || c == ';' {
			if ok && at == len(name) {
				return true
			}
			at, ok, open = 0, true, false
			continue
		}
		if !ok {
			continue
		}
		coded := c == '%' && i+2 < len(query) && isHex(query[i+1]) && isHex(query[i+2])
		if coded {
			c = unhex(query[i+1])<<4 | unhex(query[i+2])
			i += 2
		}
		if c == '+' && !coded {
			c = ' '
		}
		switch {
		case at == len(name):
			if c == '[' || c == ']' && !open || c == 0 || c == '=' && !coded {
				return true
			}
			ok = false
		case at == 0 && (c == ' ' || c == '[' || c == ']'):
		case toLower(c) == name[at], name[at] == '_' && (c == '.' || c == ' ' || c == '['):
			open = open || c == '['
			at++
		default:
			ok = false
		}
	}
	return ok && at == len(name)
}
