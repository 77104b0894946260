package resource

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// template is an upstream's path and query with placeholders. A value is escaped for
// its place: it can add neither a segment nor a parameter.
type template struct {
	text        string
	names       []string // of the values
	path, query []part
}

type part struct {
	text  string // already escaped
	value int    // index of the value that follows the text; -1: none
}

var braces = regexp.MustCompile(`\{([^{}]*)\}`)

func parseTemplate(text string, names []string) (*template, error) {
	refuse := func(why string) (*template, error) {
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
	bare := braces.ReplaceAllString(text, "x")
	if strings.ContainsAny(bare, "{}") {
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
	t := &template{text: text, names: names}
	for _, section := range []struct {
		text string
		to   *[]part
	}{{path, &t.path}, {query, &t.query}} {
		end := 0
		for _, m := range braces.FindAllStringSubmatchIndex(section.text, -1) {
			name := section.text[m[2]:m[3]]
			value := slices.Index(names, name)
			if value < 0 {
				return refuse(fmt.Sprintf("{%s}: expected a placeholder of the client's path%s", name, listed(names)))
			}
			*section.to = append(*section.to, part{section.text[end:m[0]], value})
			end = m[1]
		}
		*section.to = append(*section.to, part{section.text[end:], -1})
	}
	return t, nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return ", which has none"
	}
	return ": {" + strings.Join(names, "}, {") + "}"
}

// queryText is the query as it was written.
func (t *template) queryText() string {
	_, query, _ := strings.Cut(t.text, "?")
	return query
}

// fill gives the escaped path and the raw query.
func (t *template) fill(values []string) (path, query string) {
	var b strings.Builder
	for _, p := range t.path {
		b.WriteString(p.text)
		if p.value >= 0 {
			b.WriteString(url.PathEscape(values[p.value]))
		}
	}
	path = b.String()
	b.Reset()
	for _, p := range t.query {
		b.WriteString(p.text)
		if p.value >= 0 {
			b.WriteString(url.QueryEscape(values[p.value]))
		}
	}
	return path, b.String()
}
