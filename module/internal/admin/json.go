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
)

// reply is a success other than a plain 200.
type reply struct {
	status   int
	location string
	body     any
}

// writeReply writes what a [handle] returned.
func writeReply(w http.ResponseWriter, body any) {
	if body == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if d, ok := body.(*download); ok {
		d.write(w)
		return
	}
	a, ok := body.(reply)
	if !ok {
		a = reply{status: http.StatusOK, body: body}
	}
	if a.location != "" {
		w.Header().Set("Location", a.location)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body) // an error means that the caller is gone
}

// withBody serves calls with a JSON body, the zero value without one.
func withBody[T any](serve func(*call, T) (any, error)) handle {
	return func(c *call) (any, error) {
		var in T
		if err := c.readBody(&in); err != nil {
			return nil, err
		}
		return serve(c, in)
	}
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
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, adminapi.MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, Refuse(http.StatusRequestEntityTooLarge, "payload_too_large", fmt.Sprintf("the body has more than %d bytes", adminapi.MaxBody))
	case err != nil:
		return nil, badRequest("the body could not be read")
	case len(body) == 0:
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, Refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", "the body must be application/json")
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
		return badRequest("the body is more than one JSON object")
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
	return badRequest("the body is not a JSON object")
}

// withoutEmbedded removes the name of an embedded struct, with which encoding/json begins a path. The fields of
// JSON begin with small letters.
func withoutEmbedded(path string) string {
	if name, rest, ok := strings.Cut(path, "."); ok && name != strings.ToLower(name) {
		return rest
	}
	return path
}

// pageDefault is the default length of a page.
const pageDefault = 100

// readQuery reads the parameters, which must be known and given once.
func (c *call) readQuery(known []string) (err error) {
	if c.query, err = url.ParseQuery(c.r.URL.RawQuery); err != nil {
		return badRequest("the query is malformed")
	}
	for name, values := range c.query {
		if !slices.Contains(known, name) {
			return badField(name, "there is no such parameter")
		}
		if len(values) > 1 {
			return badField(name, "given more than once")
		}
	}
	if c.after = c.query.Get("after"); len(c.after) > maxName {
		return badField("after", "too long")
	}
	if c.limit = pageDefault; c.query.Has("limit") {
		if c.limit, err = strconv.Atoi(c.query.Get("limit")); err != nil || c.limit < 1 || c.limit > adminapi.MaxPage {
			return badField("limit", fmt.Sprintf("expected a number from 1 to %d", adminapi.MaxPage))
		}
	}
	if by := c.query.Get("by"); by != "" && by != "id" && by != "username" {
		return badField("by", "expected id or username")
	}
	return nil
}
