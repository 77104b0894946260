package httpx

import (
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// FormError says why a form or another body is refused: a status of 400, 408, 413, 414 or 415, and
// a sentence that contains nothing from the request.
type FormError struct {
	Status int
	Reason string
}

func (e *FormError) Error() string { return e.Reason }

// Form is a strictly parsed form. An empty value counts as absent (RFC 6749
// section 3.1): such a parameter has no values.
type Form struct{ values map[string][]string }

// Get returns the first value of a parameter, or "".
func (f Form) Get(name string) string {
	if all := f.values[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// All returns the values of a parameter that may be repeated.
func (f Form) All(name string) []string { return f.values[name] }

// Blank reports whether the parameter was sent without a value, which counts as absent. Callers use
// it where omitting a parameter and forgetting its value must not mean the same.
func (f Form) Blank(name string) bool {
	all, sent := f.values[name]
	return sent && len(all) == 0
}

// Names returns the names of the parameters that have a value, in alphabetical order.
func (f Form) Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.values)), func(name string) bool { return len(f.values[name]) == 0 })
}

// maxParams is the maximum number of parameters of a form. They are counted before any is decoded:
// thousands of small ones cost far more than their size suggests.
const maxParams = 100

// ReadForm reads a request's body as application/x-www-form-urlencoded. [LimitBody] must have
// limited the body. A refused form is a [*FormError]; any other error means that the body could not
// be read.
func ReadForm(r *http.Request, repeatable ...string) (Form, error) {
	types := r.Header.Values("Content-Type")
	if len(types) == 0 && r.ContentLength == 0 {
		return Form{}, &FormError{http.StatusBadRequest, "the body is empty"}
	}
	if !urlEncoded(types) {
		return Form{}, errNoForm
	}
	body, err := ReadBody(r)
	if err != nil {
		return Form{}, err
	}
	if len(body) == 0 {
		return Form{}, &FormError{http.StatusBadRequest, "the body is empty"}
	}
	return ParseForm(string(body), repeatable...)
}

var errNoForm = &FormError{http.StatusUnsupportedMediaType, "the body must be application/x-www-form-urlencoded"}

// maxQuery is the maximum length of a query in bytes, the same as that of a body. net/http accepts
// sixteen times as much, and every request would decode all of it.
const maxQuery = 64 << 10

// ReadMerged reads the query of a request and, for a POST, its body as one form, for clients that
// split their parameters between the two. A parameter that is repeated with the same value counts
// once; with different values it has several, and the caller MUST refuse that for the parameters it
// uses. Errors are those of [ReadForm]. The body may be absent.
func ReadMerged(r *http.Request) (Form, error) {
	f := Form{make(map[string][]string)}
	once := func(name, value string) bool {
		if value != "" && !slices.Contains(f.values[name], value) {
			f.values[name] = append(f.values[name], value)
		}
		return true
	}
	if len(r.URL.RawQuery) > maxQuery {
		return f, &FormError{http.StatusRequestURITooLong, "the query is too long"}
	}
	if err := eachParam(r.URL.RawQuery, once); err != nil || r.Method != http.MethodPost || r.Body == nil {
		return f, err
	}
	body, err := ReadBody(r)
	switch {
	case err != nil || len(body) == 0:
		return f, err
	case !urlEncoded(r.Header.Values("Content-Type")):
		return f, errNoForm
	}
	return f, eachParam(string(body), once)
}

// ParseForm parses an encoded form. A repeated parameter is refused unless it is named in
// repeatable, because parsers disagree about which of the values counts.
func ParseForm(encoded string, repeatable ...string) (Form, error) {
	f := Form{make(map[string][]string)}
	err := eachParam(encoded, func(name, value string) bool {
		all, seen := f.values[name]
		if seen && !slices.Contains(repeatable, name) {
			return false
		}
		if value != "" {
			all = append(all, value)
		}
		f.values[name] = all
		return true
	})
	if err != nil {
		return Form{}, err
	}
	return f, nil
}

// eachParam calls add for every parameter. add returns false to refuse one.
func eachParam(encoded string, add func(name, value string) bool) error {
	bad := func(reason string) error { return &FormError{http.StatusBadRequest, reason} }
	if strings.Count(encoded, "&") >= maxParams {
		return bad(fmt.Sprintf("there are more than %d parameters", maxParams))
	}
	for pair := range strings.SplitSeq(encoded, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, errN := url.QueryUnescape(rawName)
		value, errV := url.QueryUnescape(rawValue)
		// Some parsers still split at a semicolon.
		if errN != nil || errV != nil || strings.Contains(pair, ";") {
			return bad("a parameter is not correctly encoded")
		}
		if !isCleanText(name) || !isCleanText(value) {
			return bad("a parameter is not UTF-8 or contains NUL")
		}
		if !add(name, value) {
			return bad("a parameter is repeated")
		}
	}
	return nil
}

func isCleanText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

func urlEncoded(types []string) bool {
	if len(types) != 1 {
		return false
	}
	const want = "application/x-www-form-urlencoded"
	if types[0] == want {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(types[0])
	return err == nil && mediaType == want
}
