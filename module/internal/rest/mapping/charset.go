package mapping

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// encoder writes text in the upstream's charset.
type encoder struct {
	charset *charset.Charset // nil is UTF-8
	names   *fieldnames.Names
	config  *resource.Resource
}

// unencodable refuses a value with characters that the upstream's charset lacks.
func (e encoder) unencodable(field string) *envelope.Refusal {
	r := envelope.Invalid(field, "has characters that the service behind the gateway does not know: it takes those of "+e.charset.Name()+" alone")
	r.Status = http.StatusUnprocessableEntity
	return r
}

// encodeQuery writes parameters in the upstream's charset. It refuses those that cannot be written, also values of the
// configuration.
func (e encoder) encodeQuery(own url.Values) (url.Values, *envelope.Refusal) {
	if e.charset == nil || e.charset.Wide() {
		return own, nil
	}
	encoded := make(url.Values, len(own))
	for name, values := range own {
		written, ok := e.charset.Encode(name)
		for _, value := range values {
			v, fits := e.charset.Encode(value)
			if !ok || !fits {
				return nil, e.unencodable(e.config.ParameterName(name))
			}
			encoded[written] = append(encoded[written], v)
		}
	}
	return encoded, nil
}

// checkEncodable refuses a body with text that the upstream's charset lacks. It names the outermost member.
func (e encoder) checkEncodable(m members) *envelope.Refusal {
	if e.charset == nil {
		return nil
	}
	for _, member := range m {
		field := e.names.Ours(member.Name)
		if _, ok := e.charset.Encode(member.Name); !ok {
			return e.unencodable(field)
		}
		d := json.NewDecoder(bytes.NewReader(member.Value))
		d.UseNumber()
		for {
			t, err := d.Token() // the value is valid: an error is its end
			if err != nil {
				break
			}
			if text, is := t.(string); is {
				if _, ok := e.charset.Encode(text); !ok {
					return e.unencodable(field)
				}
			}
		}
	}
	return nil
}

// encode writes text of a form, which checkEncodable has checked. Forms are not sent in charsets with another ASCII.
func (e encoder) encode(text string) string {
	if e.charset.Wide() {
		return text
	}
	encoded, _ := e.charset.Encode(text)
	return encoded
}

// encodeJSON writes JSON in ASCII with escapes for all other characters, which every parser reads alike.
func (e encoder) encodeJSON(body []byte) []byte {
	if e.charset == nil {
		return body
	}
	text := charset.EscapeJSON(string(body))
	if e.charset.Wide() {
		text, _ = e.charset.Encode(text) // every charset has ASCII
	}
	return []byte(text)
}

// encodeValues writes the values of placeholders in the upstream's charset. It reports false for a value that cannot
// be written, which names nothing that the upstream has, and for one whose bytes contain a dot segment or an
// additional bar: in Shift_JIS and GBK the second byte of a character may be a backslash or a bar, and an upstream
// that works on bytes would take the value for another path, or for two values.
func (e encoder) encodeValues(values []string) ([]string, bool) {
	if e.charset == nil || e.charset.Wide() {
		return values, true
	}
	encoded := make([]string, len(values))
	for i, value := range values {
		var ok bool
		if encoded[i], ok = e.charset.Encode(value); !ok || strings.Count(encoded[i], "|") != strings.Count(value, "|") || pathpattern.HasDotSegment(encoded[i]) {
			return nil, false
		}
	}
	return encoded, true
}

// decodeValue decodes a value in an address of the upstream.
func (e encoder) decodeValue(text string) string {
	if e.charset != nil && !e.charset.Wide() {
		if decoded, ok := charset.Read("", e.charset).Text([]byte(text), false); ok {
			return string(decoded)
		}
	}
	return text
}
