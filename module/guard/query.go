package guard

import (
	"net/http"
	"net/url"
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
func CarriesToken(query string) bool { return carriesParam(query, "access_token") }

// methodParams are the parameters of a query that override the method of a request: `_method` in WordPress for any request, in
// Laravel, Symfony and Spring for a POST, and the names of methodHeaders in ServiceStack for any request, in ASP.NET MVC for a
// POST.
var methodParams = append([]string{"_method"}, methodHeaders...)

// overridingParam returns the parameter in a URL that overrides the method, "" for none. Upstreams that decode a path before
// they cut off the query also find it behind an encoded "?".
func overridingParam(u *url.URL) string {
	if name := methodParam(u.RawQuery); name != "" {
		return name
	}
	return methodParam(queryInPath(u))
}

// queryInPath returns what follows an encoded "?" in the path of a URL.
func queryInPath(u *url.URL) string {
	_, query, _ := strings.Cut(u.Path, "?")
	return query
}

// methodParam returns the parameter of a query that overrides the method, "" for none.
func methodParam(query string) string {
	for _, name := range methodParams {
		if carriesParam(query, name) {
			return name
		}
	}
	return ""
}

var methodAliases = newAliases(methodHeaders)

// MayOverrideMethod reports whether some upstream might run a request as one of another method. It does not look into the
// body.
func MayOverrideMethod(r *http.Request) bool {
	if overridingParam(r.URL) != "" {
		return true
	}
	for name := range r.Header {
		if methodAliases.have(name) {
			return true
		}
	}
	return false
}

// carriesParam reports whether a query or form has a parameter, however its name is escaped, repeated or
// capitalized, also as a PHP array or in a spelling that PHP turns into it: blanks in front,
// and `.`, `[` or a blank for `_`. Rack and qs, which Express uses, also read `[access_token]` as access_token,
// Rack `access_token]`, and ASP.NET `access%u005Ftoken`. It does not allocate.
func carriesParam(query, name string) bool {
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
		coded := false
		if c == '%' {
			c, i, coded = unescapeAt(query, i)
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
		case toLower(c) == toLower(name[at]), name[at] == '_' && (c == '.' || c == ' ' || c == '['):
			open = open || c == '['
			at++
		default:
			ok = false
		}
	}
	return ok && at == len(name)
}

// unescapeAt returns the byte that is escaped at i as %5F or %u005F, and where its escape ends.
func unescapeAt(query string, i int) (c byte, end int, ok bool) {
	for _, escape := range []string{"%", "%u00"} {
		if at := i + len(escape); at+1 < len(query) && query[i:at] == escape && isHex(query[at]) && isHex(query[at+1]) {
			return unhex(query[at])<<4 | unhex(query[at+1]), at + 1, true
		}
	}
	return query[i], i, false
}
