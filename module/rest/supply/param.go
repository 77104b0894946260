package supply

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Place is the part of a request that a parameter is in.
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

const (
	// maxName bounds a name, in bytes.
	maxName = 100
	// maxValue bounds a value, in bytes.
	maxValue = 8 << 10
)

var (
	paramName = regexp.MustCompile(`^[A-Za-z0-9_.:~$@-]+(\[[A-Za-z0-9_.:~$@-]+\])*$`)
	fieldName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$")
)

// kept are header fields that belong to the connection or are computed from the request.
var kept = []string{
	"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Expect", "Host", "Keep-Alive", "Proxy-Connection",
	"Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// CheckName returns an error if a parameter's place or name is invalid.
func CheckName(in Place, name string) error {
	switch {
	case in != Query && in != Body && in != Header:
		return fmt.Errorf("%s: expected query, body or header", in)
	case in == Header && (!fieldName.MatchString(name) || slices.Contains(kept, http.CanonicalHeaderKey(name))):
		return fmt.Errorf("invalid header field '%s', expected a name such as X-Api-Key, and none that the gateway sets itself", name)
	case in != Header && (len(name) > maxName || !paramName.MatchString(name)):
		return fmt.Errorf("invalid name '%s', expected letters, digits and _ . : ~ $ @ - such as token, perhaps with more in brackets such as filter[owner]", name)
	}
	return nil
}

// CheckValue returns an error if a value is invalid. The error does not contain the value.
func CheckValue(p Param) error {
	switch {
	case len(p.Value) > maxValue:
		return fmt.Errorf("the value of %s has %d bytes, expected at most %d", p.Name, len(p.Value), maxValue)
	case strings.ContainsFunc(p.Value, func(c rune) bool { return c == 0 || p.In == Header && c != '\t' && unicode.IsControl(c) }):
		return fmt.Errorf("the value of %s has control characters, such as the end of a line", p.Name)
	}
	return nil
}

// SetByGateway says why a client's parameter or member with such a name is refused.
const SetByGateway = "must not be there: the gateway sets it itself"

// GivenByAddress says why a client's parameter or member is refused that the address of the upstream already has.
const GivenByAddress = "is given by the address already"

// Names are the names that clients must not use, reduced to the form in which upstreams may read
// them. What a name has a dot behind is among them with a dot at its end.
type Names map[string]bool

// NamesOf returns the names of the parameters in the query and in bodies. Many upstreams read both as one (PHP's
// $_REQUEST), so a name is reserved in both.
func NamesOf(params []Param) Names {
	var names []string
	for _, p := range params {
		if p.In != Header {
			names = append(names, p.Name)
		}
	}
	return Names(nil).With(names...)
}

// NamesInside returns the names of the parameters in bodies. Clients must not use them inside another member either:
// Rails takes a member `article` of JSON for the whole body of a request to its ArticlesController.
func NamesInside(params []Param) Names {
	return NamesOf(slices.DeleteFunc(slices.Clone(params), func(p Param) bool { return p.In != Body }))
}

// With returns the union with other names.
func (n Names) With(names ...string) Names {
	all := make(Names, len(n)+len(names))
	maps.Copy(all, n)
	for _, name := range names {
		all[plainName(name)] = true
		all.noteAround(name)
	}
	return all
}

// Has reports whether an upstream could read a client's name as one of these: in another letter case, with
// brackets, with characters that PHP turns into underscores, with a NUL at the end, with a parenthesis behind it, or in
// camelCase instead of snake_case, since readers of protobuf and djangorestframework-camel-case take apiKey for api_key.
func (n Names) Has(name string) bool {
	if len(n) == 0 || n[plainName(name)] {
		return len(n) > 0
	}
	replaced := openBracketReplaced(name)
	return replaced != name && n[plainName(replaced)] || n.hasSteps(name)
}

// CouldHideIn reports whether one of these could stand inside a member of this name: where it has neither letters nor
// digits, Rack reads `[token]` behind it as `token`.
func (n Names) CouldHideIn(name string) bool { return len(n) > 0 && plainName(name) == "" }

// HasInBrackets reports whether the second of the words between a name's brackets is one of these, such as `token` in
// `article[token]`. Rack 2 reads `[article][token]`, `[article]token` and `article]token` alike.
func (n Names) HasInBrackets(name string) bool {
	words := strings.FieldsFunc(name, func(c rune) bool { return c == '[' || c == ']' })
	return len(words) > 1 && n.Has(words[1])
}

// SameName reports whether PHP and others read two names of a configuration as one. `apiKey` and `api_key` are two: the
// gateway sends them, not clients, and some APIs have both.
func SameName(a, b string) bool { return underscored(a) == underscored(b) }

// WithoutParenthesis returns what is in front of the first parenthesis in a name. Rails assigns the parts of a date,
// `due(1i)` and `due(2i)`, to due, and `approved(1i)` to approved.
func WithoutParenthesis(name string) string {
	if at := strings.IndexByte(name, '('); at > 0 {
		return name[:at]
	}
	return name
}

// plainName returns the name as the most lenient upstream reads it: what is in front of the brackets, or else in the
// first of them, without what a parenthesis begins, reduced to letters and digits in lower case.
func plainName(name string) string { return strings.ReplaceAll(underscored(name), "_", "") }

// underscored is plainName with an underscore for each other character between letters or digits, as PHP reads the name.
func underscored(name string) string {
	word := strings.IndexFunc(name, isWord)
	if word < 0 {
		return ""
	}
	name = WithoutParenthesis(name[word:])
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

// openBracketReplaced returns the name with an opening bracket that is never closed as PHP reads it: as an
// underscore. To PHP a NUL ends the name, so a bracket behind it closes nothing.
func openBracketReplaced(name string) string {
	name, _, _ = strings.Cut(name, "\x00")
	if open := strings.IndexByte(name, '['); open > 0 && !strings.Contains(name[open:], "]") {
		return strings.ReplaceAll(name, "[", "_")
	}
	return name
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// SameField reports whether CGI and similar interfaces read two header field names as the same: they ignore case,
// and turn hyphens, or everything but letters and digits, into underscores. `X~Api~Key`, too, becomes
// HTTP_X_API_KEY.
func SameField(a, b string) bool {
	return slices.EqualFunc([]rune(a), []rune(b), func(x, y rune) bool { return FieldRune(x) == FieldRune(y) })
}

// FieldRune maps all characters of a header field name that CGI and similar interfaces do not distinguish to the
// same one.
func FieldRune(c rune) rune {
	switch {
	case 'A' <= c && c <= 'Z':
		return c | 0x20
	case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		return c
	}
	return '-'
}
