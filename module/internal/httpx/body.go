package httpx

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// LimitBody bounds the body of a request: it may have at most size bytes, and all of them
// must arrive within the given time from now. What the handler leaves unread counts too, because net/http
// reads it before it answers. Without the deadline a client that sends a byte now and then
// would keep its connection, and the memory behind it, for as long as it likes.
//
// The read deadline of the connection ends with the body: it does not cut a handler that goes on working, nor the
// next request on the connection. An error means that the connection has no deadlines,
// because a handler in front replaced the response writer and hides it.
func LimitBody(w http.ResponseWriter, r *http.Request, size int64, within time.Duration) (err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	if r.ContentLength != 0 {
		connection := http.NewResponseController(w)
		if err = connection.SetReadDeadline(time.Now().Add(within)); err == nil {
			r.Body = &timedBody{r.Body, connection}
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, size)
	return err
}

// LeaveBody is for a request that is answered without its body, by a handler that has not
// called [LimitBody]. Over HTTP/1 net/http reads up to 256 KiB of what is left before it
// sends the answer; the client has the given time for that. When it does not suffice, the
// answer is sent and the connection closed.
func LeaveBody(w http.ResponseWriter, r *http.Request, within time.Duration) {
	if r.ProtoMajor != 1 || r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return
	}
	connection := http.NewResponseController(w)
	if connection.SetReadDeadline(time.Now().Add(within)) == nil {
		r.Body = &timedBody{r.Body, connection} // a handler of errors may read it after all
	}
}

// timedBody clears the read deadline at the end of the body. net/http notices that a client
// went away by reading on, and a deadline would look to it like that.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.connection != nil { //nolint:errorlint // io.Reader returns it as it is
		_ = b.connection.SetReadDeadline(time.Time{}) // it was possible before
		b.connection = nil
	}
	return n, err
}

// ReadBody reads the body of a request, which must be limited already ([LimitBody]). A
// refusal is a [*FormError]; every other error means that the connection broke.
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
