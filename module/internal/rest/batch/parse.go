package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Item is one operation on one member of one resource.
type Item struct {
	// ID is the id as it stands in a path, decoded.
	ID string
	// Sent is the id as the client wrote it, for the answer.
	Sent json.RawMessage
	// Field is the member that Path names, in our names.
	Field string
	// Value is what the member becomes; `null` where it is removed.
	Value   json.RawMessage
	removes bool
}

const (
	// DefaultMax is how many items a batch has at most when nothing is declared.
	DefaultMax = 100
	// MaxID is the length of an id. A longer one is in no path that anybody uses.
	MaxID = 512
)

// Config is what a batch may do.
type Config struct {
	// Fields are the members that may be changed, in our names. None: any may be.
	Fields []string
	// Max is the most items. Default: DefaultMax.
	Max int
}

// Parse reads the body of a batch. Nothing is to be sent unless every item is as it
// should be: the refusal names the first that is not, as `/3/op`.
func Parse(body []byte, c Config) ([]Item, *envelope.Refusal) {
	if c.Max == 0 {
		c.Max = DefaultMax
	}
	if !utf8.Valid(body) {
		return nil, envelope.Refuse(http.StatusBadRequest, "the body is not UTF-8")
	}
	raw, ok := splitArray(body, c.Max)
	switch {
	case !ok:
		return nil, envelope.Refuse(http.StatusBadRequest, "the body must be an array of items with id, op, path and value")
	case len(raw) == 0:
		return nil, envelope.Refuse(http.StatusBadRequest, "the batch has no items")
	case len(raw) > c.Max:
		return nil, envelope.Refuse(http.StatusRequestEntityTooLarge, "a batch has at most "+strconv.Itoa(c.Max)+" items")
	}
	items := make([]Item, len(raw))
	for i, text := range raw {
		var refused *envelope.Refusal
		if items[i], refused = parseItem(text, c); refused != nil {
			refused.Field = strings.TrimSuffix(At(i, refused.Field), "/")
			return nil, refused
		}
	}
	return items, nil
}

// splitArray returns the elements of a JSON array. It stops at one more than most, since many small elements would take
// a hundred times the memory of the body.
func splitArray(body []byte, most int) (elements []json.RawMessage, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, false
	}
	for d.More() {
		var one json.RawMessage
		if d.Decode(&one) != nil {
			return nil, false
		}
		if elements = append(elements, one); len(elements) > most {
			return elements, true
		}
	}
	if _, err := d.Token(); err != nil { // the end of the array
		return nil, false
	}
	_, err := d.Token()
	return elements, errors.Is(err, io.EOF)
}

// At is the pointer of a member of an item.
func At(item int, member string) string {
	return "/" + strconv.Itoa(item) + "/" + strings.TrimPrefix(member, "/")
}

func parseItem(text json.RawMessage, c Config) (item Item, refused *envelope.Refusal) {
	object, refused := validate.Parse(text)
	if refused != nil {
		return item, refused
	}
	for _, m := range object {
		if !slices.Contains([]string{"id", "op", "path", "value"}, m.Name) {
			return item, envelope.Invalid(m.Name, "is not a member of an item, which has id, op, path and value")
		}
	}
	var ok bool
	if item.Sent = object.Get("id"); item.Sent == nil {
		return item, envelope.Invalid("id", "is missing")
	}
	if item.ID, ok = idOf(item.Sent); !ok {
		return item, envelope.Invalid("id", "must be the id of a resource, a text or a whole number")
	}
	value := object.Get("value")
	switch op, _ := textOf(object.Get("op")); {
	case op == "replace" && value == nil:
		return item, envelope.Invalid("value", "is missing: an item that replaces says by what")
	case op == "replace":
		item.Value = value
	case op == "remove" && value != nil:
		return item, envelope.Invalid("value", "must not be there: an item that removes has no value")
	case op == "remove":
		item.Value, item.removes = json.RawMessage("null"), true
	default:
		return item, envelope.Invalid("op", "must be replace or remove")
	}
	path, _ := textOf(object.Get("path"))
	if item.Field, ok = field(path, c.Fields); !ok {
		return item, envelope.Invalid("path", "must be "+alternatives(c.Fields))
	}
	return item, nil
}

func textOf(value json.RawMessage) (text string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	return text, json.Unmarshal(value, &text) == nil
}

// idOf takes a text or a whole number without a fraction or an exponent: of 1e2 it is a
// matter of taste which path it stands in.
func idOf(value json.RawMessage) (string, bool) {
	if text, ok := textOf(value); ok {
		// A lone surrogate is read as U+FFFD, and another one too: two ids would be one.
		return text, text != "" && len(text) <= MaxID && !strings.ContainsRune(text, utf8.RuneError)
	}
	digits := strings.TrimPrefix(string(value), "-")
	return string(value), digits != "" && len(value) <= MaxID && strings.Trim(digits, "0123456789") == ""
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// field is the member that a pointer of one step names (RFC 6901).
func field(path string, fields []string) (string, bool) {
	step, ok := strings.CutPrefix(path, "/")
	name := unescape.Replace(step)
	return name, ok && step != "" && !strings.Contains(step, "/") && (len(fields) == 0 || slices.Contains(fields, name))
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func alternatives(fields []string) string {
	if len(fields) == 0 {
		return "the path of one field, such as /title"
	}
	paths := make([]string, len(fields))
	for i, f := range fields {
		paths[i] = "/" + escape.Replace(f)
	}
	last := len(paths) - 1
	if last == 0 {
		return paths[0]
	}
	return strings.Join(paths[:last], ", ") + " or " + paths[last]
}
