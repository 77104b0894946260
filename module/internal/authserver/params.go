package authserver

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Limits of an authorization request. The largest honest ones are a few kilobytes;
// decoding half a million parameters takes seconds.
const (
	maxQuery  = 16 << 10 // bytes, encoded
	maxParams = 100
)

// params are the parameters of an authorization request, in order, repetitions
// included: whether one may be repeated depends on which it is.
type params []param

type param struct{ name, value string }

// parseParams decodes a query. It differs from url.ParseQuery in refusing what is
// doubtful as a whole instead of dropping the doubtful part, and in taking ";" for
// the ordinary character it is in a URL.
func parseParams(query string) (params, *pageError) {
	if len(query) > maxQuery {
		return nil, page(http.StatusRequestURITooLong, "too_large", "")
	}
	if strings.Count(query, "&") >= maxParams {
		return nil, page(http.StatusBadRequest, "invalid_request", "there are too many parameters")
	}
	var all params
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, errName := url.QueryUnescape(rawName)
		value, errValue := url.QueryUnescape(rawValue)
		if errName != nil || errValue != nil {
			return nil, page(http.StatusBadRequest, "invalid_request", "a parameter is not correctly encoded")
		}
		if !readable(name) || !readable(value) {
			return nil, page(http.StatusBadRequest, "invalid_request", "a parameter is not UTF-8 or contains NUL")
		}
		all = append(all, param{name, value})
	}
	return all, nil
}

func readable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// get returns a parameter, "" when it is absent: one without a value counts as
// omitted (RFC 6749 section 3.1).
func (p params) get(name string) string {
	for _, q := range p {
		if q.name == name {
			return q.value
		}
	}
	return ""
}

// all returns the values of a parameter that may be repeated.
func (p params) all(name string) []string {
	var values []string
	for _, q := range p {
		if q.name == name && q.value != "" {
			values = append(values, q.value)
		}
	}
	return values
}

func (p params) has(name string) bool { return p.count(name) > 0 }

func (p params) count(name string) int {
	n := 0
	for _, q := range p {
		if q.name == name {
			n++
		}
	}
	return n
}

// repeated names a parameter that occurs twice, "" when none does. Only resource may
// (RFC 8707 section 2).
func (p params) repeated() string {
	for i, q := range p {
		if q.name != "resource" && p[:i].has(q.name) {
			return q.name
		}
	}
	return ""
}

// encode gives the parameters as a query.
func (p params) encode() string {
	var flat []string
	for _, q := range p {
		flat = append(flat, q.name, q.value)
	}
	return strings.TrimPrefix(withQuery("", flat...), "?")
}
