package resource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Charset is the one that the resource's configuration names; nil is UTF-8.
func (a *Answer) Charset() *charset.Charset {
	if a.match.Operation == nil {
		return nil
	}
	return a.match.Operation.shape.charset
}

// Charset is the name of the charset that answers to the operation are in where they do not
// say so; "" for UTF-8.
func (o *Operation) Charset() string { return o.Resource.Charset }

// CharsetOfAnswers is that charset; nil is UTF-8.
func (o *Operation) CharsetOfAnswers() *charset.Charset { return o.shape.charset }

// findCharset compiles `charset`.
func (s *shape) findCharset() (err error) {
	if s.config.Charset == "" {
		return nil
	}
	if s.charset, err = charset.Find(s.config.Charset); err != nil {
		return fmt.Errorf("charset: %w", err)
	}
	return nil
}

// unencodable refuses a value that the upstream's charset does not have.
func (s *shape) unencodable(field string) *envelope.Refusal {
	r := envelope.Invalid(field, "has characters that the service behind the gateway does not know: it takes those of "+s.charset.Name()+" alone")
	r.Status = http.StatusUnprocessableEntity
	return r
}

// encodeQuery writes parameters in the upstream's charset. What the client asked for is
// checked before; of the configuration's own values what cannot be written is refused too.
func (s *shape) encodeQuery(own url.Values) (url.Values, *envelope.Refusal) {
	if s.charset == nil || s.charset.Wide() {
		return own, nil
	}
	encoded := make(url.Values, len(own))
	for name, values := range own {
		written, ok := s.charset.Encode(name)
		for _, value := range values {
			v, fits := s.charset.Encode(value)
			if !ok || !fits {
				return nil, s.unencodable(s.config.ourParameter(name))
			}
			encoded[written] = append(encoded[written], v)
		}
	}
	return encoded, nil
}

// ourParameter is the client's name of a parameter of the upstream's.
func (r *Resource) ourParameter(theirs string) string {
	for _, n := range r.Query {
		if n.Their() == theirs {
			return n.Name
		}
	}
	if r.List != nil {
		for _, f := range r.List.Filters {
			if f.Their() == theirs {
				return f.Name.Name
			}
		}
	}
	return theirs
}

// encodable refuses a body with a text that the upstream's charset does not have. Of a name
// below the outermost level, too, the member is named that it is in.
func (s *shape) encodable(m members) *envelope.Refusal {
	if s.charset == nil {
		return nil
	}
	for _, member := range m {
		field := s.ours(member.Name)
		if _, ok := s.charset.Encode(member.Name); !ok {
			return s.unencodable(field)
		}
		d := json.NewDecoder(bytes.NewReader(member.Value))
		d.UseNumber()
		for {
			t, err := d.Token() // the value is valid: an error is its end
			if err != nil {
				break
			}
			if text, is := t.(string); is {
				if _, ok := s.charset.Encode(text); !ok {
					return s.unencodable(field)
				}
			}
		}
	}
	return nil
}

// ours is the client's name of a member.
func (s *shape) ours(theirs string) string {
	if name, ok := s.names[theirs]; ok {
		return name
	}
	return theirs
}

// encode writes a text of a form that encodable has seen. No form is in a charset that writes
// ASCII differently.
func (s *shape) encode(text string) string {
	if s.charset.Wide() {
		return text
	}
	encoded, _ := s.charset.Encode(text)
	return encoded
}

// encodeJSON writes JSON in the upstream's charset: in ASCII, with escapes for all other
// characters, which every parser reads alike, whatever it takes the bytes of others for.
func (s *shape) encodeJSON(body []byte) []byte {
	if s.charset == nil {
		return body
	}
	text := charset.EscapeJSON(string(body))
	if s.charset.Wide() {
		text, _ = s.charset.Encode(text) // all have ASCII
	}
	return []byte(text)
}

// encodeValues writes the values of placeholders in the upstream's charset. One that cannot
// be written is of nothing that the upstream has, and one that is a step through directories or
// has a bar when its bytes are taken for ASCII is not sent: in Shift_JIS and GBK the second byte
// of a character may be a backslash or a bar, and an upstream that works byte by byte would take
// the value for another path, or for two.
func (s *shape) encodeValues(values []string) ([]string, bool) {
	if s.charset == nil || s.charset.Wide() {
		return values, true
	}
	encoded := make([]string, len(values))
	for i, value := range values {
		var ok bool
		if encoded[i], ok = s.charset.Encode(value); !ok || strings.Count(encoded[i], "|") != strings.Count(value, "|") || pathpattern.HasDotSegment(encoded[i]) {
			return nil, false
		}
	}
	return encoded, true
}

// decodeValue reads a value out of an address of the upstream's.
func (s *shape) decodeValue(text string) string {
	if s.charset != nil && !s.charset.Wide() {
		if decoded, ok := charset.Read("", s.charset).Text([]byte(text), false); ok {
			return string(decoded)
		}
	}
	return text
}
