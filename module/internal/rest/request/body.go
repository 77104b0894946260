package request

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// ReadBody reads a body of at most limit bytes whose content must be known. It refuses longer
// ones, and forms that carry an access token.
func ReadBody(r *http.Request, limit int64) ([]byte, *envelope.Refusal) {
	tooLarge := envelope.Refuse(http.StatusRequestEntityTooLarge, "")
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	var limited *http.MaxBytesError
	switch {
	case errors.As(err, &limited) || int64(len(body)) > limit:
		return nil, tooLarge
	case err != nil:
		return nil, envelope.Refuse(http.StatusBadRequest, "the body could not be read")
	}
	if refused := checkForm(r.Header, body); refused != nil {
		return nil, refused
	}
	return body, nil
}

// memory is a body that is in memory as a whole. It can be sent again without a copy.
type memory struct {
	*bytes.Reader
	text []byte
}

// InMemory returns a body with a text that the gateway has written, or has read completely.
func InMemory(text []byte) io.ReadCloser { return memory{bytes.NewReader(text), text} }

// IsInMemory reports whether a body was made by InMemory.
func IsInMemory(body io.ReadCloser) bool {
	_, ok := body.(memory)
	return ok
}

// Close implements io.Closer.
func (memory) Close() error { return nil }

// Copy returns a copy of a request whose header and address can be changed.
func Copy(r *http.Request) *http.Request {
	c := r.WithContext(r.Context())
	c.Header = r.Header.Clone()
	at := *r.URL
	c.URL = &at
	return c
}
