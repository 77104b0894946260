package pathpattern

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Template is an upstream's path and query with placeholders. Values are escaped for their place: a
// value can add neither a segment nor a parameter.
type Template struct {
	Text            string
	names           []string // of the values
	path, query     []Part   // their texts are already escaped
	inPath, inQuery []string // the quotes that the value behind each part is in
}

// Part is a piece of a text with placeholders.
type Part struct {
	Text  string
	Value int // index of the value that follows the text; -1: none
}

var braces = regexp.MustCompile(`\{([^{}]*)\}`)

// SplitPlaceholders splits a text at its placeholders. index returns the index of a placeholder's value.
func SplitPlaceholders(text string, index func(name string) (int, error)) (parts []Part, err error) {
	if !strings.Contains(text, "{") {
		return []Part{{text, -1}}, nil
	}
	end := 0
	for _, m := range braces.FindAllStringSubmatchIndex(text, -1) {
		value, err := index(text[m[2]:m[3]])
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{text[end:m[0]], value})
		end = m[1]
	}
	return append(parts, Part{text[end:], -1}), nil
}

// WithoutPlaceholders returns a text with x in place of each placeholder. alone reports whether a brace
// is left over.
func WithoutPlaceholders(text string) (bare string, alone bool) {
	if bare = text; strings.Contains(text, "{") {
		bare = braces.ReplaceAllString(text, "x")
	}
	return bare, strings.ContainsAny(bare, "{}")
}

// ParseTemplate parses an upstream's address. names are the placeholders that it may have.
func ParseTemplate(text string, names []string) (*Template, error) {
	refuse := func(why string) (*Template, error) {
		return nil, fmt.Errorf("upstream %q: %s", text, why)
	}
	path, query, _ := strings.Cut(text, "?")
	switch {
	case !strings.HasPrefix(text, "/"):
		return refuse("expected a path and query such as /api.php?id={id}")
	case strings.Contains(text, "#"):
		return refuse("a fragment is never sent, expected a path and query")
	case strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c >= 0x7f }):
		return refuse("expected no spaces and nothing but ASCII; escape with %")
	}
	bare, alone := WithoutPlaceholders(text)
	if alone {
		return refuse("a brace stands alone, expected placeholders such as {id}")
	}
	u, err := url.ParseRequestURI(bare)
	if err != nil || strings.HasPrefix(text, "//") || u.Path != "/" && strings.Contains(u.Path+"/", "/../") {
		return refuse("it is not one, expected a path and query such as /api.php?id={id}")
	}
	if values, err := url.ParseQuery(query); err != nil {
		return refuse("its query cannot be read, expected one such as id={id}")
	} else {
		for name := range values {
			if strings.ContainsAny(name, "{}") {
				return refuse("a placeholder must be in a value, not in a name")
			}
		}
	}
	t := &Template{Text: text, names: names}
	index := func(name string) (int, error) {
		i := slices.Index(names, name)
		if i < 0 {
			_, err = refuse(fmt.Sprintf("{%s}: expected a placeholder of the client's path%s", name, listPlaceholders(names)))
		}
		return i, err
	}
	if t.path, err = SplitPlaceholders(path, index); err != nil {
		return nil, err
	}
	if t.query, err = SplitPlaceholders(query, index); err != nil {
		return nil, err
	}
	t.inPath, t.inQuery = quotesInPath(t.path), quotesInQuery(t.query)
	return t, nil
}

func listPlaceholders(names []string) string {
	if len(names) == 0 {
		return ", which has none"
	}
	return ": {" + strings.Join(names, "}, {") + "}"
}

// QueryText returns the query as it was written.
func (t *Template) QueryText() string {
	_, query, _ := strings.Cut(t.Text, "?")
	return query
}

// CheckParametersFree returns an error if the template's query has a parameter that a configuration
// word sends too: of two values some upstreams believe the first one, some the last.
func (t *Template) CheckParametersFree(word string, parameters []string) error {
	for part := range strings.SplitSeq(t.QueryText(), "&") {
		name, _, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(name); err == nil && part != "" && slices.Contains(parameters, name) {
			return fmt.Errorf("%s: it sends %s: expected an address without that parameter", word, name)
		}
	}
	return nil
}

// Fill returns the escaped path and the raw query with these values.
func (t *Template) Fill(values []string) (path, query string) {
	fill := func(parts []Part, escape func(string) string) string {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.Text)
			if p.Value >= 0 {
				b.WriteString(escape(values[p.Value]))
			}
		}
		return b.String()
	}
	return fill(t.path, url.PathEscape), fill(t.query, EscapeQuery)
}

// Unfill returns the values, as decode decodes them, that fill the template to this address. It
// ignores parameters that the template does not have.
func (t *Template) Unfill(path string, query url.Values, decode func(string) string) ([]string, bool) {
	values := make([]string, len(t.names))
	rawPath, rawQuery, _ := strings.Cut(t.Text, "?")
	have, want := strings.Split(path, "/"), strings.Split(rawPath, "/")
	if len(have) != len(want) {
		return nil, false
	}
	for i := range want {
		text, err := url.PathUnescape(have[i])
		if err != nil || !t.unfillPart(want[i], decode(text), values) {
			return nil, false
		}
	}
	for part := range strings.SplitSeq(rawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return nil, false
		}
		if part != "" && (len(query[name]) != 1 || !t.unfillPart(value, decode(query[name][0]), values)) {
			return nil, false
		}
	}
	return values, !slices.Contains(values, "")
}

// unfillPart compares one segment or parameter value with the template's, and stores the value of
// its placeholder. A placeholder with text around it matches nothing: where the value ends would be
// a guess.
func (t *Template) unfillPart(want, have string, values []string) bool {
	if m := braces.FindStringSubmatch(want); m != nil {
		if m[0] != want || !IsSafe(have) {
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
