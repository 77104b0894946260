// Package query decodes and encodes the parameters of authorization requests: strictly, in order, with bounds. It
// knows nothing of what the parameters mean.
package query

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Limits of an authorization request. The largest honest requests are a few kilobytes; decoding half a million
// parameters takes seconds.
const (
	MaxSize   = 16 << 10 // bytes, encoded
	MaxParams = 100
	MaxState  = 4096 // bytes of state

	maxLocales = 200 // bytes of ui_locales
)

// Params are the parameters of a request in order, repetitions included: whether one may be Repeated depends on which
// it is.
type Params []Param

// Param is one parameter, decoded.
type Param struct{ Name, Value string }

// Parse decodes a query. Unlike url.ParseQuery it refuses a query with a malformed part instead of dropping that
// part, and treats ";" as the ordinary character it is in a URL. Errors are refusals.
func Parse(query string) (Params, error) {
	if len(query) > MaxSize {
		return nil, refusal.New(http.StatusRequestURITooLong, refusal.TooLarge, "")
	}
	if strings.Count(query, "&") >= MaxParams {
		return nil, oauth.E(oauth.InvalidRequest, "there are too many parameters")
	}
	var all Params
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, errName := url.QueryUnescape(rawName)
		value, errValue := url.QueryUnescape(rawValue)
		if errName != nil || errValue != nil {
			return nil, oauth.E(oauth.InvalidRequest, "a parameter is not correctly encoded")
		}
		if !readable(name) || !readable(value) {
			return nil, oauth.E(oauth.InvalidRequest, "a parameter is not UTF-8 or contains NUL")
		}
		all = append(all, Param{name, value})
	}
	return all, nil
}

func readable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// Get returns a parameter, "" when it is absent: one without a value counts as omitted (RFC 6749 section 3.1).
func (p Params) Get(name string) string {
	for _, q := range p {
		if q.Name == name {
			return q.Value
		}
	}
	return ""
}

// All returns the values of a parameter that may be repeated.
func (p Params) All(name string) []string {
	var values []string
	for _, q := range p {
		if q.Name == name && q.Value != "" {
			values = append(values, q.Value)
		}
	}
	return values
}

// Has reports whether a parameter is there, even without a value.
func (p Params) Has(name string) bool { return p.Count(name) > 0 }

// Count returns how often a parameter occurs.
func (p Params) Count(name string) int {
	n := 0
	for _, q := range p {
		if q.Name == name {
			n++
		}
	}
	return n
}

// Repeated names a parameter that occurs twice, "" when none does. Only resource may (RFC 8707 section 2).
func (p Params) Repeated() string {
	for i, q := range p {
		if q.Name != "resource" && p[:i].Has(q.Name) {
			return q.Name
		}
	}
	return ""
}

// Encode gives the parameters as a query.
func (p Params) Encode() string {
	var flat []string
	for _, q := range p {
		flat = append(flat, q.Name, q.Value)
	}
	return Encode(flat...)
}

// Encode returns names and values, in turn, as a query without the question mark.
func Encode(params ...string) string { return strings.TrimPrefix(AppendTo("", params...), "?") }

// AppendTo appends names and values to an address whose own query stays as it is (RFC 6749 section 3.1.2). The
// address has no fragment, as registered ones have none.
func AppendTo(uri string, params ...string) string {
	var b strings.Builder
	b.WriteString(uri)
	separator := "?"
	if i := strings.IndexByte(uri, '?'); i >= 0 {
		separator = "&"
		if strings.HasSuffix(uri, "&") || i == len(uri)-1 {
			separator = ""
		}
	}
	for i := 0; i+1 < len(params); i += 2 {
		b.WriteString(separator)
		b.WriteString(escape(params[i]))
		b.WriteByte('=')
		b.WriteString(escape(params[i+1]))
		separator = "&"
	}
	return b.String()
}

// escape writes a space as %20, which form and URI decoders read alike.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// Locales returns ui_locales. It is only a preference, so a value that is too long is ignored.
func (p Params) Locales() string {
	if l := p.Get("ui_locales"); len(l) <= maxLocales {
		return l
	}
	return ""
}
