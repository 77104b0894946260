package http1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Field is a header field with its name in canonical form.
type Field struct{ Name, Value string }

// Request is a request as it is sent.
type Request struct {
	Method string
	// Path is escaped and not empty; Query is what follows the question mark.
	Path, Query string
	Host        string
	// Header is sent without the fields that are hop-by-hop and those that Set has. The caller has
	// removed those that its Connection field names. It is not changed.
	Header http.Header
	// Set are fields that the proxy sets; those without a value are left out.
	Set []Field
	// Body is read by another goroutine; nil means there is none. Length is -1 if it is not known.
	Body   io.Reader
	Length int64
	// Trailer has the announced trailer fields, with values once Body is at its end.
	Trailer http.Header
	// StopBody makes a Read of Body that waits for its sender return. It is called when the answer
	// has ended before the body has.
	StopBody func()

	announced []string // the names in Trailer that the head has
}

// isReplayable reports whether the request may be sent again although the server may have seen it
// (RFC 9110, section 9.2.2).
func (q *Request) isReplayable() bool {
	if q.Body != nil {
		return false
	}
	switch q.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// expectsContinue reports whether the client wants to hear whether its body is welcome.
func (q *Request) expectsContinue() bool {
	return q.Body != nil && strings.EqualFold(q.Header.Get("Expect"), "100-continue")
}

// check refuses what would end the request line or a header line early.
func (q *Request) check() error {
	switch {
	case !isToken(q.Method) || q.Method == http.MethodConnect:
		return unsendable("the method %.30q cannot be sent", q.Method)
	case !isTarget(q.Path) || !isTarget(q.Query) || q.Path == "":
		return unsendable("the request target is not a path, or has a space or a control character")
	case !isTarget(q.Host):
		return unsendable("the host has a space or a control character")
	}
	for name := range q.Trailer {
		if !isToken(name) {
			return unsendable("the trailer field %.60q cannot be sent", name)
		}
	}
	return nil
}

// isTarget reports whether s may be part of a request target.
func isTarget(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// writeHead writes the request line and the header fields.
func (q *Request) writeHead(w *bufio.Writer) error {
	w.WriteString(q.Method)
	w.WriteByte(' ')
	w.WriteString(q.Path)
	if q.Query != "" {
		w.WriteByte('?')
		w.WriteString(q.Query)
	}
	w.WriteString(" HTTP/1.1\r\n")
	if err := writeField(w, "Host", q.Host); err != nil {
		return err
	}
	for name, values := range q.Header {
		if q.isOurs(name) {
			continue
		}
		if name == "User-Agent" && (len(values) > 1 || values[0] == "") {
			if values = values[:1]; values[0] == "" {
				continue
			}
		}
		for _, v := range values {
			if err := writeField(w, name, v); err != nil {
				return err
			}
		}
	}
	for _, f := range q.Set {
		if f.Value == "" {
			continue
		}
		if err := writeField(w, f.Name, f.Value); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(q.Header["Te"], func(v string) bool { return listHas(v, "trailers") }) {
		w.WriteString("Te: trailers\r\n")
	}
	q.writeFraming(w)
	_, err := w.WriteString("\r\n")
	return err
}

// isOurs reports whether the proxy decides about a field.
func (q *Request) isOurs(name string) bool {
	switch {
	case name == "Host" || name == "Content-Length" || isHopByHop(name):
		return true
	}
	for i := range q.Set {
		if q.Set[i].Name == name {
			return true
		}
	}
	return false
}

// writeFraming writes the fields that say how long the body is.
func (q *Request) writeFraming(w *bufio.Writer) {
	switch {
	case q.Body == nil:
		if q.Method == http.MethodPost || q.Method == http.MethodPut || q.Method == http.MethodPatch {
			w.WriteString("Content-Length: 0\r\n")
		}
	case q.isChunked():
		w.WriteString("Transfer-Encoding: chunked\r\n")
		for name := range q.Trailer {
			if isTrailer(name) {
				_ = writeField(w, "Trailer", name)
				q.announced = append(q.announced, name)
			}
		}
	default:
		w.WriteString("Content-Length: ")
		w.Write(strconv.AppendInt(w.AvailableBuffer(), q.Length, 10))
		w.WriteString("\r\n")
	}
}

// isChunked reports whether the body is sent in chunks: trailer fields need them.
func (q *Request) isChunked() bool { return q.Length < 0 || len(q.Trailer) > 0 }

// writeField writes one header line. Errors of w are left to the flush.
func writeField(w *bufio.Writer, name, value string) error {
	if !isToken(name) || !isText(value) {
		return fmt.Errorf("the header field %.60q cannot be sent", name)
	}
	w.WriteString(name)
	w.WriteString(": ")
	w.WriteString(value)
	w.WriteString("\r\n")
	return nil
}

// buffers are for bodies on their way.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// writeBody sends the body: what was read is sent before more is waited for.
func (q *Request) writeBody(w *bufio.Writer) error {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	var sent int64
	for {
		n, err := q.Body.Read(buffer[:])
		if n > 0 {
			if sent += int64(n); q.Length >= 0 && sent > q.Length {
				return &BodyError{errors.New("it is longer than its Content-Length")}
			}
			if writeErr := q.writePart(w, buffer[:n]); writeErr != nil {
				return writeErr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			if sent < q.Length {
				return &BodyError{io.ErrUnexpectedEOF}
			}
			return q.endBody(w)
		case err != nil:
			return &BodyError{err}
		}
	}
}

// writePart sends a part of the body.
func (q *Request) writePart(w *bufio.Writer, part []byte) error {
	chunked := q.isChunked()
	if chunked {
		w.Write(strconv.AppendInt(w.AvailableBuffer(), int64(len(part)), 16))
		w.WriteString("\r\n")
	}
	w.Write(part)
	if chunked {
		w.WriteString("\r\n")
	}
	return w.Flush()
}

// endBody sends the last chunk and the trailer fields.
func (q *Request) endBody(w *bufio.Writer) error {
	if !q.isChunked() {
		return nil
	}
	w.WriteString("0\r\n")
	for _, name := range q.announced { // others may have come
		for _, v := range q.Trailer[name] {
			if err := writeField(w, name, v); err != nil {
				return &BodyError{err}
			}
		}
	}
	w.WriteString("\r\n")
	return w.Flush()
}
