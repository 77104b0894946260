package compose

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Member is a member that the gateway adds to the body of the request to the upstream.
type Member struct {
	// The name, or the JSON Pointer of a nested member: `/arguments/ids`. With `[]` appended it is a
	// list with this single value. Required.
	Name string `json:"name"`
	// The value. `{id}` is a value of the client's path, `{id|int}` the same as a whole number,
	// `{query.start}` a parameter of a read, by the upstream's name. In JSON, numbers, true, false,
	// null, arrays, objects and quoted texts are taken as JSON, and everything else as text; in a form
	// all values are texts. Braces in a quoted text are part of it. Required.
	Value string `json:"value,omitempty"`
}

const (
	maxMembers = 100
	maxValue   = 8 << 10 // bytes
	maxDepth   = 16      // of a pointer
)

var (
	memberName  = regexp.MustCompile(`^[A-Za-z0-9_$@.:~*!-]{1,100}$`)
	hasWord     = regexp.MustCompile(`[A-Za-z0-9]`)
	braces      = regexp.MustCompile(`\{([^{}]*)\}`)
	placeholder = regexp.MustCompile(`^\{([a-z][a-z0-9_]*)(\|int)?\}$`)
	// otherPlaceholder is a placeholder that is not in the path: a value of the request, or of Caddy.
	otherPlaceholder = regexp.MustCompile(`^\{(query|body|env|file|http|system|time)\.[^{}\s]+\}$`)
	parameter        = regexp.MustCompile(`^\{query\.([^{}|"\s]{1,256})(\|int)?\}$`)
)

// Template are members, compiled.
type Template struct {
	members []Member
	top     *branch    // the outermost object
	names   []string   // of the placeholders in the client's path
	texts   []compound // by the number in their name
	queries []string   // parameters of the query that have a place
	params  *rpc.Template
}

// Parse compiles members for a body in JSON or, without asJSON, in a form. names are the placeholders
// of the client's path.
func Parse(members []Member, asJSON bool, names []string) (*Template, error) {
	if len(members) > maxMembers {
		return nil, fmt.Errorf("%d members, expected at most %d", len(members), maxMembers)
	}
	for _, name := range []string{"query", "body"} {
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("the path has a placeholder {%s}, expected another name where values are placed in the body", name)
		}
	}
	t := &Template{members: members, names: names}
	top := new(branch)
	for _, m := range members {
		value, err := t.value(m.Value, asJSON)
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w", m.Name, m.Value, err)
		}
		if err := top.put(m.Name, value); err != nil {
			return nil, err
		}
	}
	t.top = top
	known := slices.Clone(names)
	for i := range t.texts {
		known = append(known, textName(i))
	}
	var err error
	if t.params, err = rpc.Parse(top.text(), known); err != nil {
		return nil, err
	}
	for _, ref := range t.params.Refs() {
		if ref.Place == rpc.Query && !slices.Contains(t.queries, ref.Name) {
			t.queries = append(t.queries, ref.Name)
		}
	}
	return t, nil
}

// value is the value of a member as a template of JSON.
func (t *Template) value(text string, asJSON bool) (string, error) {
	switch {
	case len(text) > maxValue:
		return "", fmt.Errorf("a value of %d bytes, expected at most %d", len(text), maxValue)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", errors.New("a value with control characters, expected none")
	case parameter.MatchString(text):
		return text, nil
	}
	if m := placeholder.FindStringSubmatch(text); m != nil && slices.Contains(t.names, m[1]) {
		return text, nil
	}
	if asJSON {
		if literal, ok, err := t.literal(text); ok || err != nil {
			return literal, err
		}
	}
	if !strings.ContainsAny(text, "{}") {
		return string(splice.Quote(text)), nil
	}
	return t.addCompound(text)
}

// literal is a value that is written as JSON, ok for one that is.
func (t *Template) literal(text string) (literal string, ok bool, err error) {
	if !opensJSON(text) && !isScalar(text) {
		return "", false, nil
	}
	for _, quoted := range jsonString.FindAllString(text, -1) {
		if slices.ContainsFunc(braces.FindAllString(quoted, -1), t.isPlaceholder) {
			return "", false, fmt.Errorf("%s has a placeholder in quotes, expected it without: it becomes a JSON value", quoted)
		}
	}
	text = jsonString.ReplaceAllStringFunc(text, escapeBraces)
	for _, found := range braces.FindAllString(text, -1) {
		m := placeholder.FindStringSubmatch(found)
		object := strings.Contains(found, `"`) || strings.TrimSpace(found[1:len(found)-1]) == ""
		if !object && !parameter.MatchString(found) && (m == nil || !slices.Contains(t.names, m[1])) {
			return "", false, t.unexpected(found)
		}
	}
	// Within a list any value can be parsed by itself.
	parsed, err := rpc.Parse("["+text+"]", t.names)
	switch {
	case errors.Unwrap(err) != nil:
		return "", false, errors.New("invalid JSON, expected one value such as [{id}], with quotes around the texts in it")
	case err != nil:
		return "", false, err
	}
	for _, ref := range parsed.Refs() {
		if ref.Place != rpc.Path && ref.Place != rpc.Query {
			return "", false, t.unexpected(ref.String())
		}
	}
	return text, true, nil
}

// isPlaceholder reports whether a part of a quoted text in braces is written as a placeholder is. Other braces are part
// of the text, as in a query of GraphQL.
func (t *Template) isPlaceholder(found string) bool {
	m := placeholder.FindStringSubmatch(found)
	return m != nil && slices.Contains(t.names, m[1]) || otherPlaceholder.MatchString(found)
}

// escapeBraces returns a text in JSON without braces, which means the same.
func escapeBraces(quoted string) string {
	if !json.Valid([]byte(quoted)) {
		return quoted
	}
	return strings.NewReplacer("{", `\u007b`, "}", `\u007d`).Replace(quoted)
}

// opensJSON reports whether a text begins as a list, text or object of JSON does.
func opensJSON(text string) bool {
	if strings.HasPrefix(text, "{") { // an object, unless a placeholder with text behind it
		at := braces.FindStringIndex(text)
		return at == nil || at[0] != 0 || strings.Contains(text[:at[1]], `"`) || text[:at[1]] == "{}"
	}
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`)
}

// isScalar reports whether a text is a number, true, false or null in JSON.
func isScalar(text string) bool {
	return slices.Contains([]string{"true", "false", "null"}, text) || number.MatchString(text)
}

// jsonString finds the texts in a value, since outside of texts JSON has no quotes.
var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func (t *Template) unexpected(found string) error {
	known := ""
	for _, name := range t.names {
		known += "{" + name + "}, {" + name + "|int}, "
	}
	if known != "" {
		known += "or "
	}
	return fmt.Errorf("unexpected placeholder %s, expected %s{query.<parameter>} of a read; secrets go in `send fixed body`", found, known)
}

// Names are the names of the members on the outermost level.
func (t *Template) Names() []string { return t.top.names }

// Below are the names of what pointers put into a member on the outermost level; none for a member
// that has a value.
func (t *Template) Below(name string) []string {
	if b := t.top.below[name]; b != nil {
		return b.names
	}
	return nil
}

// Parameters are the upstream's names of the parameters of the query that have a place.
func (t *Template) Parameters() []string { return t.queries }

// Members are what the template was made from.
func (t *Template) Members() []Member { return t.members }

// Fill gives the members as a JSON object. values are those of the path, query gives those of
// parameters. A member whose parameter the request does not have is left out. The error is an
// [rpc.ValueError].
func (t *Template) Fill(values []string, query func(name string) (string, bool)) ([]byte, error) {
	return t.params.Object(rpc.Values{Text: func(place rpc.Place, name string) (string, bool) {
		if place == rpc.Query {
			return query(name)
		}
		if i := slices.Index(t.names, name); i >= 0 {
			return values[i], true
		}
		i, _ := strconv.Atoi(name[1:]) // Parse wrote it
		return t.texts[i].fill(values), true
	}})
}
