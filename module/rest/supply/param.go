package supply

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Place is where a parameter stands in a request.
type Place string

const (
	Query  Place = "query"
	Body   Place = "body" // a member of the body, in the form in which it is sent
	Header Place = "header"
)

// Param is a parameter with its value.
type Param struct {
	In    Place
	Name  string
	Value string
}

// maxValue bounds a value, in bytes.
const maxValue = 8 << 10

var (
	paramName = regexp.MustCompile(`^[A-Za-z0-9_.:~-]{1,100}$`)
	fieldName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$")
)

// kept are header fields that belong to the connection or are made from the request.
var kept = []string{
	"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Expect", "Host", "Keep-Alive", "Proxy-Connection",
	"Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// CheckName says what is wrong with a parameter's place or name.
func CheckName(in Place, name string) error {
	switch {
	case in != Query && in != Body && in != Header:
		return fmt.Errorf("%s: expected query, body or header", in)
	case in == Header && (!fieldName.MatchString(name) || slices.Contains(kept, http.CanonicalHeaderKey(name))):
		return fmt.Errorf("invalid header field '%s', expected a name such as X-Api-Key, and none that the gateway sets itself", name)
	case in != Header && !paramName.MatchString(name):
		return fmt.Errorf("invalid name '%s', expected letters, digits and _ . : ~ - such as token", name)
	}
	return nil
}

// CheckValue says what is wrong with a value. The error does not have it.
func CheckValue(p Param) error {
	switch {
	case len(p.Value) > maxValue:
		return fmt.Errorf("the value of %s has %d bytes, expected at most %d", p.Name, len(p.Value), maxValue)
	case strings.ContainsFunc(p.Value, func(c rune) bool { return c == 0 || p.In == Header && c != '\t' && unicode.IsControl(c) }):
		return fmt.Errorf("the value of %s has control characters, such as the end of a line", p.Name)
	}
	return nil
}

// Names are those that clients must not use, by what upstreams may take them for.
type Names map[string]bool

// NamesOf are those of parameters in the query and in bodies. Many upstreams read both as one
// ($_REQUEST of PHP), so a name is taken in both.
func NamesOf(params []Param) Names {
	names := make(Names)
	for _, p := range params {
		if p.In != Header {
			names[plain(p.Name)] = true
		}
	}
	return names
}

// Has reports whether a client's name could be read as one of these: in other letters, with
// brackets, with what PHP makes an underscore, or with a NUL behind it.
func (n Names) Has(name string) bool { return len(n) > 0 && n[plain(name)] }

// HasInside reports whether what a form has in brackets behind a client's name could be read as
// one of these: Rack takes `[token]` for `token`.
func (n Names) HasInside(name string) bool { return len(n) > 0 && plain(name) == "" }

// plain is what a name is for the least exact of upstreams: the first word in it, without
// brackets around it, of small letters.
func plain(name string) string {
	word := strings.IndexFunc(name, isWord)
	if word < 0 {
		return ""
	}
	name = name[word:]
	if end := strings.IndexAny(name, "[]\x00"); end >= 0 {
		name = name[:end]
	}
	return strings.TrimRight(strings.Map(func(c rune) rune {
		if !isWord(c) {
			return '_'
		}
		return unicode.ToLower(unicode.ToUpper(c))
	}, name), "_")
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// SameField reports whether two header fields are one for CGI and its kin, which make an
// underscore of a hyphen, and some of every sign: `X~Api~Key` is HTTP_X_API_KEY too.
func SameField(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if fieldSign(a[i]) != fieldSign(b[i]) {
			return false
		}
	}
	return true
}

// fieldSign is a byte of a field's name as the least exact of upstreams reads it.
func fieldSign(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c | 0x20
	case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		return c
	}
	return '-'
}
