package rpc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/charset"
)

// configured is the place of a value that the configuration gives: a text with Caddy's placeholders,
// such as `token:{env.ARIA2_SECRET}`. It is filled in by [Template.Fill] just before a call is sent,
// so that it is in nothing that is stored, logged or shown.
const configured Place = "configured"

// errFill is the error for a call whose configured values are not those of the template.
var errFill = errors.New("the call was made with other parameters than are declared now")

// configuredNames are what the placeholders of configured values begin with.
var configuredNames = []string{"env.", "file.", "http.auth.user."}

func isConfigured(ref string) bool {
	return slices.ContainsFunc(configuredNames, func(begin string) bool { return strings.HasPrefix(ref, "{"+begin) && len(ref) > len(begin)+len("{}") })
}

// configuredText decodes a JSON string of a template in which placeholders were found. Those of the
// client's request must not stand in quotes.
func configuredText(literal string, found []string) (text string, err error) {
	for _, ref := range found {
		if !isConfigured(ref) {
			return "", fmt.Errorf("placeholder %s stands in quotes, expected it without: it becomes a JSON value. Only {env.<name>}, {file.<path>} and {http.auth.user.<name>} may stand in quotes", ref)
		}
	}
	if json.Unmarshal([]byte(literal), &text) != nil {
		return "", errors.New("invalid parameters: they are not JSON")
	}
	return text, nil
}

// mark stands for a configured value in a call until it is filled in. A NUL is in no JSON and no XML,
// so nothing that a client sends can be taken for one. The text is encoded, since a call may be written in
// another charset.
func (r Ref) mark() []byte {
	return []byte("\x00" + base64.RawURLEncoding.EncodeToString([]byte(r.String())) + "\x00")
}

// configured returns the placeholders of configured values.
func (t *Template) Configured() []Ref { return t.configured }

// Fill writes configured values into a call, of XML-RPC or of JSON-RPC. value fills in the placeholders
// of a text; nil leaves them as they are written. The error for a value does not have it.
func (t *Template) Fill(call []byte, byXML bool, value func(text string) (string, error)) (_ []byte, err error) {
	refs := t.configured
	parts := bytes.Split(call, []byte{0})
	if len(parts) != 2*len(refs)+1 {
		return nil, errFill
	}
	var b bytes.Buffer
	for i, part := range parts {
		if i%2 == 0 {
			b.Write(part)
			continue
		}
		at := slices.IndexFunc(refs, func(r Ref) bool { return bytes.Equal(bytes.Trim(r.mark(), "\x00"), part) })
		if at < 0 {
			return nil, errFill
		}
		ref, filled := refs[at], refs[at].String()
		if value == nil {
			ref.integer = false
		} else {
			filled, err = value(ref.Name)
		}
		if err == nil {
			filled, err = ref.encode(filled, byXML)
		}
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", ref, err)
		}
		b.WriteString(filled)
	}
	return b.Bytes(), nil
}

// encode writes a value in ASCII, whatever the charset of the call.
func (r Ref) encode(value string, byXML bool) (string, error) {
	switch {
	case r.integer && !whole.MatchString(value):
		return "", errors.New("the value is not a whole number")
	case r.integer && byXML:
		return numberOf(value)
	case r.integer:
		return value, nil
	case !utf8.ValidString(value):
		return "", errors.New("the value is not UTF-8")
	case byXML:
		text, ok := xmljson.Text(value)
		if !ok {
			return "", errors.New("the value has a control character, which XML does not have")
		}
		return "<string>" + text + "</string>", nil
	}
	return charset.EscapeJSON(string(splice.Quote(value))), nil
}
