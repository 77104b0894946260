package http1

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

// Response is an answer whose body is still to be read. Close ends it.
type Response struct {
	Status int
	// Length of the body; -1 if it is not known.
	Length int64

	exchange
	body reader
}

// CopyHeader adds the fields of the answer to header, without those that are hop-by-hop.
func (r *Response) CopyHeader(header http.Header) { r.c.head.copyFields(header) }

// Header returns the first value of a field, whose name is in canonical form.
func (r *Response) Header(name string) string {
	for _, f := range r.c.head.fields {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// IsBodyUnsent reports whether the server has answered without having asked for the request body.
func (r *Response) IsBodyUnsent() bool { return r.q.Body != nil && r.upload == nil }

// AnnouncedTrailer is the list of trailer fields that the answer announces, those that frame or
// route it left out.
func (r *Response) AnnouncedTrailer() string {
	if !r.body.chunked {
		return ""
	}
	var names []string
	for _, f := range r.c.head.fields {
		if f.name != "Trailer" {
			continue
		}
		for name := range strings.SplitSeq(f.value, ",") {
			if name = http.CanonicalHeaderKey(strings.Trim(name, " \t")); isToken(name) && isTrailer(name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// IsEarly reports whether the server answers before the request body has been sent, apart from a moment, or has ended the
// connection on which it was sent. What still comes of the body is read then until Close, if it can be sent.
func (r *Response) IsEarly() bool { return !r.isUploaded() }

// Version is the minor version of HTTP/1 that the server speaks.
func (r *Response) Version() int { return r.c.head.minor }

// WriteBody sends the body to w. flush is called before it waits for the server, if that is not
// nil. An error of the server's side is a *ReadError.
func (r *Response) WriteBody(w io.Writer, flush func() error) error {
	if r.body.done {
		return nil
	}
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	for {
		if flush != nil && !r.body.isReady() {
			if err := flush(); err != nil {
				return err
			}
		}
		n, err := r.body.Read(buffer[:])
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), err == nil && r.body.done:
			return nil
		case err != nil:
			return &ReadError{r.cause(err)}
		}
	}
}

// ReadError says that the answer of the server has ended before it was whole.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// AddTrailer adds the trailer fields to the header of the written response.
func (r *Response) AddTrailer(header http.Header) { r.body.addTrailer(header) }

// HasTrailer reports whether trailer fields came.
func (r *Response) HasTrailer() bool { return len(r.body.trailer) > 0 }

// Close ends the exchange: the connection is kept if both bodies have come to their end.
func (r *Response) Close() { r.end(r.body.done) }
