package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// maxBody is the largest body, in bytes: a client with a JWK set has a few thousand.
const maxBody = 64 << 10

// answer is a success.
type answer struct {
	status   int
	location string
	body     any // nil for none
}

func okay(body any) (answer, error) { return answer{status: http.StatusOK, body: body}, nil }

func (a answer) write(w http.ResponseWriter) {
	if a.location != "" {
		w.Header().Set("Location", a.location)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body) // the caller is gone: nobody is left to tell
}

// readBody decodes the body strictly into v. Without a body v stays as it is.
func (c *call) readBody(v any) error {
	body, err := c.body()
	if err != nil || len(body) == 0 {
		return err
	}
	return decodeBody(body, v)
}

func (c *call) body() ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refuse(http.StatusRequestEntityTooLarge, envelope.Error{Code: "payload_too_large", Message: fmt.Sprintf("the body has more than %d bytes", maxBody)})
	case err != nil:
		return nil, refuse(http.StatusBadRequest, envelope.Error{Code: "bad_request", Message: "the body could not be read"})
	case len(body) == 0:
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, envelope.Error{Code: "unsupported_media_type", Message: "the body must be application/json"})
	}
	return body, nil
}

// decodeBody is strict: a misspelt field must not pass for a field that was not given.
func decodeBody(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return bodyFault(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse(http.StatusBadRequest, envelope.Error{Code: "bad_request", Message: "the body is more than one JSON object"})
	}
	return nil
}

// bodyFault names the field without repeating its value, which may be a password.
func bodyFault(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		return badField(withoutEmbedded(kind.Field), "expected another type than "+kind.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if field, err := strconv.Unquote(name); err == nil {
			return badField(field, "there is no such field")
		}
	}
	return refuse(http.StatusBadRequest, envelope.Error{Code: "bad_request", Message: "the body is not a JSON object"})
}

// withoutEmbedded removes the name of an embedded struct, with which encoding/json begins a path. The fields of
// JSON begin with small letters.
func withoutEmbedded(path string) string {
	if name, rest, ok := strings.Cut(path, "."); ok && name != strings.ToLower(name) {
		return rest
	}
	return path
}

// query gives the parameters, which must be among those named and given once.
func (c *call) query(known ...string) (url.Values, error) {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, envelope.Error{Code: "bad_request", Message: "the query is malformed"})
	}
	for name, values := range q {
		if !slices.Contains(known, name) {
			return nil, badField(name, "there is no such parameter")
		}
		if len(values) > 1 {
			return nil, badField(name, "given more than once")
		}
	}
	return q, nil
}

// pageDefault is how long a page of a list is when nobody says.
const pageDefault = 100

// page reads where a list begins and how long it may be.
func (c *call) page(known ...string) (after string, limit int, err error) {
	q, err := c.query(append(known, "after", "limit")...)
	if err != nil {
		return "", 0, err
	}
	after, limit = q.Get("after"), pageDefault
	if len(after) > maxName {
		return "", 0, badField("after", "too long")
	}
	if s := q.Get("limit"); s != "" || q.Has("limit") {
		if limit, err = strconv.Atoi(s); err != nil || limit < 1 || limit > adminapi.MaxPage {
			return "", 0, badField("limit", fmt.Sprintf("expected a number from 1 to %d", adminapi.MaxPage))
		}
	}
	return after, limit, nil
}
