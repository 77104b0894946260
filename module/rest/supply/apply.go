package supply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
)

// Apply adds parameters to a request. Header fields replace the client's; parameters of the body
// are put in front of what is there. as is the format of a body that has to be made: `json`, or
// anything else for a form; "" says that the request has no body, and parameters of the body are
// dropped if there is none. RequestURI stays unchanged: proxies send the URL and log RequestURI.
func Apply(r *http.Request, params []Param, as string) error {
	var query, form []Param
	for _, p := range params {
		switch p.In {
		case Query:
			query = append(query, p)
		case Body:
			form = append(form, p)
		default:
			for name := range r.Header {
				if SameField(name, p.Name) {
					delete(r.Header, name)
				}
			}
			r.Header.Set(p.Name, p.Value)
		}
	}
	if len(query) > 0 {
		if r.URL.RawQuery != "" {
			r.URL.RawQuery += "&"
		}
		r.URL.RawQuery += encode(query, pathpattern.EscapeQuery)
	}
	if len(form) == 0 {
		return nil
	}
	return applyBody(r, form, as)
}

func encode(params []Param, escape func(string) string) string {
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(escape(p.Name) + "=" + escape(p.Value))
	}
	return b.String()
}

func applyBody(r *http.Request, form []Param, as string) error {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		switch as {
		case "":
			return nil
		case "json":
			r.Header.Set("Content-Type", "application/json")
			prepend(r, append([]byte{'{'}, append(members(form), '}')...))
		default:
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			prepend(r, []byte(encode(form, url.QueryEscape)))
		}
		return nil
	}
	media, label, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case media == "application/x-www-form-urlencoded":
		prepend(r, []byte(encode(form, url.QueryEscape)+"&"))
	case media == "multipart/form-data":
		return prependParts(r, form, label["boundary"])
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return prependMembers(r, form)
	}
	return nil
}

// prepend inserts a text in front of the body.
func prepend(r *http.Request, text []byte) {
	old := r.Body
	if old == nil || old == http.NoBody || r.ContentLength == 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		return
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), old), old}
	if r.ContentLength > 0 {
		r.ContentLength += int64(len(text))
	}
	delete(r.Header, "Content-Length")
}

func prependParts(r *http.Request, form []Param, boundary string) error {
	if boundary == "" {
		return fmt.Errorf("the multipart form has no boundary")
	}
	var b bytes.Buffer
	for _, p := range form {
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", boundary, p.Name, p.Value)
	}
	text := b.Bytes()
	head := make([]byte, len(lineEnd)+len("--")+len(boundary))
	n, err := io.ReadFull(r.Body, head)
	if err != nil || !BeginsWithPart(head, boundary) {
		return errForm
	}
	if bytes.HasPrefix(head, []byte(lineEnd)) { // the line end is part of the boundary
		text = bytes.TrimSuffix(text, []byte(lineEnd))
	}
	if r.ContentLength > 0 {
		r.ContentLength -= int64(n)
	}
	prepend(r, append(text, head...))
	return nil
}

const lineEnd = "\r\n"

var errForm = fmt.Errorf("the form cannot be read, or has text in front of its first part")

// BeginsWithPart reports whether a multipart form begins with its boundary. Text in front of the
// boundary would become part of the value of a parameter that is inserted before it.
func BeginsWithPart(form []byte, boundary string) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(form, []byte(lineEnd)), []byte("--"+boundary))
}

// prependMembers inserts members after the opening brace of a JSON object.
func prependMembers(r *http.Request, form []Param) error {
	length := r.ContentLength
	head := make([]byte, 0, 64)
	next := func() (byte, error) {
		var one [1]byte
		_, err := io.ReadFull(r.Body, one[:])
		head = append(head, one[0])
		return one[0], err
	}
	blanks := func() (c byte, err error) {
		for c = ' '; c == ' ' || c == '\t' || c == '\r' || c == '\n'; {
			if c, err = next(); err != nil || len(head) > maxBlanks {
				return c, errObject
			}
		}
		return c, nil
	}
	if c, err := blanks(); err != nil || c != '{' {
		return errObject
	}
	text := append([]byte{'{'}, members(form)...)
	after, err := blanks()
	if err != nil {
		return errObject
	}
	if after != '}' {
		text = append(text, ',')
	}
	text = append(text, after)
	if length >= 0 {
		r.ContentLength = length - int64(len(head))
	}
	rest := r.ContentLength
	if rest == 0 {
		r.Body = http.NoBody
	}
	prepend(r, text)
	return nil
}

// maxBlanks bounds the white space around the opening brace of an object.
const maxBlanks = 4 << 10

var errObject = fmt.Errorf("the body is not a JSON object")

func members(form []Param) []byte {
	var b []byte
	for i, p := range form {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(p.Name) // strings can always be marshaled
		value, _ := json.Marshal(p.Value)
		b = append(append(append(b, name...), ':'), value...)
	}
	return b
}
