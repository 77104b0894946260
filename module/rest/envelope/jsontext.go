package envelope

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// said is the content of an upstream's JSON error. Of repeated members the last one counts.
type said struct {
	message, field string
	code           string // only of an error in the gateway's own format
	shaped         bool   // {"error":{"code":"...","message":"..."}}
	exact          bool   // exactly that and the field
}

// notices bounds at how many positions a JSON text is looked for when something is printed in
// front of it. A notice may echo what a client sent; translating a success tries no more
// positions either.
const notices = 8

func readJSON(text []byte) (said, bool) {
	if s, ok := readValue(text); ok {
		return s, true
	}
	for range notices {
		at := bytes.IndexByte(text, '{')
		if at < 0 {
			break
		}
		if s, ok := readValue(text[at:]); ok {
			s.shaped, s.exact = false, false
			return s, true
		}
		text = text[at+1:]
	}
	return said{}, false
}

func readValue(text []byte) (s said, ok bool) {
	switch text[0] {
	case '{':
		var m map[string]json.RawMessage
		if json.Unmarshal(text, &m) != nil {
			return s, false
		}
		s = readObject(m)
		s.exact = s.exact && countTokens(text) == exactTokens // members may be repeated
		return s, true
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			return s, false
		}
		if len(list) > 0 {
			s.message, s.field = readItem(list[0])
		}
		return s, true
	case '"':
		return said{message: asString(text)}, json.Valid(text)
	}
	return s, json.Valid(text)
}

// The usual places of texts in upstreams' errors, the most specific first.
var (
	messageNames = []string{"message", "msg", "errmsg", "error_description", "error_message", "errorMessage", "detail", "details", "description", "reason"}
	fieldNames   = []string{"field", "param", "parameter", "property", "target"} // OData has target

	itemMessageNames = slices.Concat(messageNames, []string{"error", "title"})
	itemFieldNames   = slices.Concat(fieldNames, []string{"path"})
	sourceNames      = []string{"pointer", "parameter"} // JSON:API
)

func readObject(m map[string]json.RawMessage) (s said) {
	if inner := asObject(m["error"]); inner != nil {
		s.message, s.field = readTexts(inner)
		if code := asString(inner["code"]); isCode(code) && asString(inner["message"]) != "" && isField(inner["field"]) {
			_, hasField := inner["field"]
			s.shaped, s.exact, s.code = true, hasField && len(inner) == 3 && len(m) == 1, code
		}
		if s.message != "" {
			return s
		}
	}
	s.message, s.field = readTexts(m)
	for _, name := range []string{"error", "title"} {
		if s.message == "" {
			s.message = asString(m[name])
		}
	}
	return s
}

// exactTokens is how many tokens an error of exactly our form has: two objects, the name of one, and three members.
const exactTokens = 4 + 1 + 3*2

func countTokens(text []byte) (n int) {
	for d := json.NewDecoder(bytes.NewReader(text)); n <= exactTokens; n++ {
		if _, err := d.Token(); err != nil {
			break
		}
	}
	return n
}

// readTexts reads the usual places of an object, and of the first of the errors in it.
func readTexts(m map[string]json.RawMessage) (message, field string) {
	message, field = firstOf(m, messageNames), firstOf(m, fieldNames)
	several := m["errors"]
	if details := m["details"]; (several == nil || string(several) == "null") && len(details) > 0 && details[0] == '[' { // as an object it is anything
		several = details
	}
	if first, at := readErrors(several); first != "" {
		return cmp.Or(message, first), cmp.Or(field, at)
	}
	return message, field
}

// readErrors reads a list of errors, or an object that maps fields to their errors.
func readErrors(raw json.RawMessage) (message, field string) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		if len(list) > 0 {
			return readItem(list[0])
		}
		return "", ""
	}
	// The order of the members matters, so the first one is read from the text.
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", ""
	}
	name, err := d.Token()
	if err != nil {
		return "", ""
	}
	var first json.RawMessage
	field, isName := name.(string)
	if !isName || d.Decode(&first) != nil {
		return "", ""
	}
	if json.Unmarshal(first, &list) == nil && len(list) > 0 {
		first = list[0]
	}
	message, _ = readItem(first)
	return message, field
}

func readItem(raw json.RawMessage) (message, field string) {
	m := asObject(raw)
	if m == nil {
		return asString(raw), ""
	}
	message, field = firstOf(m, itemMessageNames), firstOf(m, itemFieldNames)
	if source := asObject(m["source"]); field == "" && source != nil {
		field = firstOf(source, sourceNames)
	}
	if name := asString(m["name"]); field == "" && !isException(name) {
		field = name
	}
	var within []json.RawMessage
	if json.Unmarshal(m["data"], &within) == nil && field == "" && len(within) > 0 { // Payload
		field = firstOf(asObject(within[0]), fieldNames)
	}
	return message, field
}

// isException reports whether a name is that of a kind of errors, such as GraphQLError, rather than that of a field.
func isException(name string) bool {
	return strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception")
}

func firstOf(m map[string]json.RawMessage, names []string) string {
	for _, name := range names {
		if s := asString(m[name]); s != "" {
			return s
		}
	}
	return ""
}

func asObject(raw json.RawMessage) (m map[string]json.RawMessage) {
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

func asString(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

func isField(raw json.RawMessage) bool {
	return raw == nil || string(raw) == "null" || raw[0] == '"'
}

// isCode accepts the codes of errors in the gateway's own format: they are meant for programs.
func isCode(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, snakeLetters+"-.") == ""
}
