package request

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// CheckUTF8 refuses a form with a field that names another charset than UTF-8. A browser fills in a hidden field of that
// name.
func CheckUTF8(h http.Header, body []byte) *envelope.Refusal {
	for _, charset := range namedCharsets(h.Get("Content-Type"), body) {
		if !strings.EqualFold(charset, "utf-8") {
			return envelope.Invalid(resource.CharsetField, "must be utf-8")
		}
	}
	return nil
}

// namedCharsets returns the charsets that fields of a form name as its own, "" for one that cannot be read.
func namedCharsets(label string, body []byte) []string {
	switch {
	case formOf(label) == encoded:
		return charsetFields(string(body))
	case IsMultipart(label) && bytes.Contains(bytes.ToLower(body), []byte(resource.CharsetField)):
		return charsetParts(label, body)
	}
	return nil
}

// charsetFields finds the fields as the most lenient reader does.
func charsetFields(form string) (charsets []string) {
	for field := range strings.FieldsFuncSeq(form, func(c rune) bool { return c == '&' || c == ';' }) {
		name, value, _ := strings.Cut(field, "=")
		if name, err := url.QueryUnescape(name); err != nil || !isCharsetField(name) {
			continue
		}
		value, _ = url.QueryUnescape(value) // "" if it cannot be read
		charsets = append(charsets, value)
	}
	return charsets
}

// charsetParts finds the parts. The charset of a part that only some APIs read as this field is unknown.
func charsetParts(label string, body []byte) (charsets []string) {
	names, _ := PartNames(label, body)
	named := 0
	for _, name := range names {
		if isCharsetField(name) {
			named++
		}
	}
	if named == 0 {
		return nil
	}
	boundary, _ := boundaryIn(label)
	for read := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := read.NextRawPart()
		if err != nil {
			break
		}
		if isCharsetField(part.FormName()) {
			value, _ := io.ReadAll(part) // from memory
			charsets = append(charsets, string(value))
		}
	}
	for len(charsets) < named {
		charsets = append(charsets, "")
	}
	return charsets
}

func isCharsetField(name string) bool {
	return strings.EqualFold(strings.TrimSpace(name), resource.CharsetField)
}
