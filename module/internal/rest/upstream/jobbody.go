package upstream

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// CheckJobBody refuses a body that is sent to the API unchanged by a job, if it has one of the
// parameters that the gateway sends itself, or may have one that cannot be seen. reads is the charset of the API, nil for UTF-8.
func CheckJobBody(params []supply.Param, reads *charset.Charset, header http.Header, body []byte) *envelope.Refusal {
	reserved := supply.NamesOf(params)
	if len(reserved) == 0 {
		return nil
	}
	if len(header["Content-Encoding"]) > 0 {
		return envelope.Refuse(http.StatusUnsupportedMediaType, "the body must not be compressed or encoded")
	}
	label := header.Get("Content-Type")
	if !plainCharset(label) {
		return envelope.Refuse(http.StatusUnsupportedMediaType, "the body must be in UTF-8")
	}
	names, ok := bodyNames(label, reads, body)
	if !ok {
		return envelope.Refuse(http.StatusBadRequest, "the body could not be read")
	}
	if refused := request.CheckUTF8(header, body); refused != nil { // as what the gateway adds is
		return refused
	}
	isForm := request.IsForm(header)
	for _, name := range names {
		if reserved.Has(name) || reserved.HasAround(name) || isForm && reserved.HasField(name) {
			return envelope.Invalid(name, supply.SetByGateway)
		}
	}
	return checkInside(supply.NamesInside(params), body)
}

// checkInside refuses a JSON object with one of the names inside a member.
func checkInside(reserved supply.Names, body []byte) *envelope.Refusal {
	object, _ := decodeObject(body) // anything else has no members
	for _, outer := range slices.Sorted(maps.Keys(object)) {
		if value := object[outer]; reserved.HasInside(outer) && (value[0] == '{' || value[0] == '[') {
			return envelope.Invalid(outer, supply.SetByGateway)
		}
		members, _ := decodeObject(object[outer])
		for _, inner := range slices.Sorted(maps.Keys(members)) {
			if reserved.Has(inner) || reserved.HasAround(inner) {
				return envelope.Invalid(splice.Pointer{outer, inner}.String(), supply.SetByGateway)
			}
		}
	}
	return nil
}

// plainCharset reports whether every API finds the same names in a body with this Content-Type. Express decodes JSON
// from UTF-7, and Django's REST framework from any charset; in some charsets a character ends with the byte of a backslash.
func plainCharset(label string) bool {
	media, params, err := mime.ParseMediaType(label)
	named := strings.ToLower(params["charset"])
	return request.ASCIINames(label) && (err != nil || !envelope.IsJSON(media) || slices.Contains([]string{"", "utf-8", "utf8", "us-ascii"}, named))
}

// CheckJobForm refuses a form that is sent to the API unchanged by a job, if it has a parameter of the job's address, whose
// query is given: APIs that read both as one (PHP's $_REQUEST) mostly prefer the form.
func CheckJobForm(query string, header http.Header, body []byte) *envelope.Refusal {
	given, _ := url.ParseQuery(query) // without what cannot be read
	if len(given) == 0 || len(body) == 0 || !request.IsForm(header) {
		return nil
	}
	if len(header["Content-Encoding"]) > 0 {
		return envelope.Refuse(http.StatusUnsupportedMediaType, "the form must not be compressed or encoded")
	}
	names := encodedNames(body)
	if label := header.Get("Content-Type"); request.IsMultipart(label) {
		var ok bool
		if names, ok = request.PartNames(label, body); !ok {
			return envelope.Refuse(http.StatusBadRequest, "the form could not be read")
		}
	}
	reserved := supply.Names(nil).With(slices.Collect(maps.Keys(given))...)
	for _, name := range names {
		if reserved.Has(name) {
			return envelope.Invalid(name, supply.GivenByAddress)
		}
	}
	return nil
}

// bodyNames returns the names of the parameters in a form or a JSON object. Bodies of other types
// are read as both: many APIs ignore the type.
func bodyNames(label string, reads *charset.Charset, body []byte) (names []string, ok bool) {
	media, params, err := mime.ParseMediaType(label)
	switch {
	case label != "" && err != nil:
		return nil, false
	case media == "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		return slices.Sorted(maps.Keys(form)), err == nil
	case media == "multipart/form-data" && !supply.BeginsWithPart(body, params["boundary"]):
		return nil, false
	case request.IsMultipart(label):
		return request.PartNames(label, body)
	case envelope.IsJSON(media) && !strings.Contains(strings.ToLower(label), "urlencoded"):
		var object map[string]json.RawMessage
		err := json.Unmarshal(body, &object)
		return slices.Sorted(maps.Keys(object)), err == nil
	}
	object, err := decodeObject(body)
	labelled, _ := charset.Find(params["charset"])
	if (err != nil || labelled.IsMultibyte() || reads.IsMultibyte()) && looseObject.Match(bytes.ReplaceAll(body, []byte{0}, nil)) {
		return nil, false
	}
	names = slices.Sorted(maps.Keys(object))
	return append(names, encodedNames(body)...), true
}

// decodeObject decodes the object at the beginning of a text: some APIs ignore what follows it.
func decodeObject(text []byte) (object map[string]json.RawMessage, err error) {
	err = json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).Decode(&object)
	return object, err
}

// encodedNames returns the names that a lenient reader finds in an encoded form.
func encodedNames(body []byte) (names []string) {
	for param := range strings.FieldsFuncSeq(string(body), func(c rune) bool { return c == '&' || c == ';' }) {
		name, _, _ := strings.Cut(param, "=")
		names = append(names, unescape(name))
	}
	return names
}

// looseObject matches the beginning of what lenient readers take for an object: Python's reads NaN, and UTF-16 and UTF-32, where
// there is a NUL beside each letter, and Ruby's skips comments. Of encrypted data, and of templates such as {{name}}, as little as
// possible looks like that.
var looseObject = regexp.MustCompile(`(?s)^(?:\x{fffd}{2})?(?:[\s\x{feff}]|/\*.*?\*/|//[^\n]*\n)*\{\s*["'}/$\w]`)

var escape = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// unescape decodes what can be decoded, as lenient readers do.
func unescape(name string) string {
	return escape.ReplaceAllStringFunc(strings.ReplaceAll(name, "+", " "), func(e string) string {
		text, _ := url.PathUnescape(e)
		return text
	})
}
