package resource

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Locate finds the client's path for an upstream's address, without host. Among several
// operations with the same upstream those that read come first.
func (t *Table) Locate(path, query string) (string, bool) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", false
	}
	for _, reading := range []bool{true, false} {
		for _, o := range t.operations {
			if o.template == nil || o.call != nil || (o.Method == http.MethodGet) != reading {
				continue
			}
			if found, ok := o.template.read(path, values, len(o.pattern.names), o.shape.decodeValue); ok && o.pattern.takes(found) {
				return o.pattern.fill(found), true
			}
		}
	}
	return "", false
}

// read gives the values with which the template is this address, each as decode reads it.
// Parameters that it does not have are passed over.
func (t *template) read(path string, query url.Values, count int, decode func(string) string) ([]string, bool) {
	values := make([]string, count)
	rawPath, rawQuery, _ := strings.Cut(t.text, "?")
	have, want := strings.Split(path, "/"), strings.Split(rawPath, "/")
	if len(have) != len(want) {
		return nil, false
	}
	for i := range want {
		text, err := url.PathUnescape(have[i])
		if err != nil || !t.take(want[i], decode(text), values) {
			return nil, false
		}
	}
	for part := range strings.SplitSeq(rawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return nil, false
		}
		if part != "" && (len(query[name]) != 1 || !t.take(value, decode(query[name][0]), values)) {
			return nil, false
		}
	}
	return values, !slices.Contains(values, "")
}

// take compares one segment or value with the template's, and keeps what stands in the
// place of a placeholder. One with text around its placeholder matches nothing: where the
// value ends would be a guess.
func (t *template) take(want, have string, values []string) bool {
	if m := braces.FindStringSubmatch(want); m != nil {
		if m[0] != want || !proper(have) {
			return false
		}
		i := slices.Index(t.names, m[1])
		if i < 0 || values[i] != "" && values[i] != have {
			return false
		}
		values[i] = have
		return true
	}
	text, err := url.QueryUnescape(want)
	return err == nil && text == have
}
