package guard

import (
	"net/http"
	"strings"
)

// refererCarriesToken is CarriesToken for the address of the page that a request comes
// from: a browser that was refused with a token in the query sends it along with what it
// asks for next.
func refererCarriesToken(h http.Header) bool {
	for _, referer := range h["Referer"] {
		if _, query, ok := strings.Cut(referer, "?"); ok && CarriesToken(query) {
			return true
		}
	}
	return false
}

// CarriesToken reports whether a query, or a form (section 2.2), has the parameter access_token (RFC 6750
// section 2.3, which RFC 9700 section 4.3.2 forbids), however its name is escaped,
// repeated or capitalised, also as a PHP array or in one of the spellings that PHP turns
// into it: blanks in front, and `.`, `[` or a blank for `_`. It does not allocate.
func CarriesToken(query string) bool {
	const name = "access_token"
	at, ok := 0, true // how much of name was seen, and whether the key still agrees
	for i := 0; i < len(query); i++ {
		c := query[i]
		if c == '&' || c == ';' {
			if ok && at == len(name) {
				return true
			}
			at, ok = 0, true
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
			if c == '[' || c == 0 || c == '=' && !coded {
				return true
			}
			ok = false
		case at == 0 && c == ' ':
		case lower(c) == name[at], name[at] == '_' && (c == '.' || c == ' ' || c == '['):
			at++
		default:
			ok = false
		}
	}
	return ok && at == len(name)
}
