package httpx

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// LimitBody bounds the body of a request to size bytes, all of which must arrive within the given
// time from now. Bytes that the handler leaves unread count too, because net/http reads them before
// it responds. Without the deadline, a client that sends a byte now and then could keep its
// connection, and the memory behind it, open indefinitely. Over HTTP/2 and HTTP/3 even an empty body
// may never end.
//
// The read deadline is cleared at the end of the body: it cuts off neither a handler that is still
// working nor the next request on the connection. With full duplex over HTTP/1, a response that comes
// before the end of the body closes the connection: net/http would take what is unread for the next
// request once the deadline has passed. An error means that no deadline can be set on the connection,
// because a handler in front replaced the response writer and hides it.
//
// A response that comes before the end of a body which waits for `100 Continue` closes the connection, too: see [LeaveBody].
func LimitBody(w http.ResponseWriter, r *http.Request, size int64, within time.Duration, fullDuplex bool) (err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	if r.ContentLength != 0 || r.ProtoMajor != 1 {
		connection := http.NewResponseController(w)
		if err = connection.SetReadDeadline(time.Now().Add(within)); err == nil {
			r.Body = newTimedBody(w, r, connection, fullDuplex)
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, size)
	return err
}

// LeaveBody prepares a request to be answered without reading its body, by a handler that has not
// called [LimitBody]. Over HTTP/1, net/http reads up to 256 KiB of the remaining body before it
// sends the response; the client has the given time to send that. If the time runs out, the
// response is sent and the connection closed. With full duplex, where net/http reads after it
// has responded, the connection is closed in any case; and so it is if the client waits for `100 Continue`
// (RFC 9110 section 10.1.1): net/http would wait for the body without sending that.
func LeaveBody(w http.ResponseWriter, r *http.Request, within time.Duration, fullDuplex bool) {
	if r.ProtoMajor != 1 || r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return
	}
	connection := http.NewResponseController(w)
	if connection.SetReadDeadline(time.Now().Add(within)) == nil {
		b := newTimedBody(w, r, connection, fullDuplex)
		b.closing = nil // an error handler may read it in another goroutine, which must not change the header
		r.Body = b
	}
}

// timedBody clears the read deadline at the end of the body. net/http keeps reading in the
// background to notice that a client has disconnected, and would mistake an expired deadline for
// that.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController
	closing    http.Header // has Connection: close until the end of the body
}

func newTimedBody(w http.ResponseWriter, r *http.Request, connection *http.ResponseController, fullDuplex bool) *timedBody {
	b := &timedBody{ReadCloser: r.Body, connection: connection}
	if h := w.Header(); (fullDuplex && r.ProtoMajor == 1 || isWithheld(r)) && h.Get("Connection") == "" {
		h.Set("Connection", "close")
		b.closing = h
	}
	return b
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.connection != nil { //nolint:errorlint // io.Reader returns it as it is
		_ = b.connection.SetReadDeadline(time.Time{}) // setting one has worked before
		b.connection = nil
		if b.closing != nil {
			b.closing.Del("Connection")
		}
	}
	return n, err
}

// ReadBody reads the body of a request, which [LimitBody] must have limited. A refused body is a
// [*FormError]; any other error means that the connection broke.
func ReadBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	tooLarge := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &tooLarge):
		return nil, &FormError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &FormError{http.StatusRequestTimeout, "the body took too long to arrive"}
	}
	return body, err
}
