package httpx

import (
	"io"
	"net/http"
	"sync/atomic"

	"golang.org/x/net/http/httpguts"
)

// Unclosed returns the body of a request in a form that handlers behind cannot close, as the
// transport of a proxy does when the upstream responds before it has read the whole body. After an
// early close, net/http ends the connection only if it sees its own body type. Behind a server that
// wraps bodies, as Caddy's does, it would take the rest of the body for the next request on the
// connection. If the body was never closed, net/http reads it to the end before it responds, or
// ends the connection.
func Unclosed(r *http.Request) io.ReadCloser {
	if _, done := r.Body.(*unclosed); done || r.ProtoMajor != 1 || r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return r.Body
	}
	return &unclosed{body: r.Body}
}

type unclosed struct {
	body   io.Reader
	closed atomic.Bool
	read   atomic.Bool // a part of it, at least, or in vain
}

// Read implements io.Reader.
func (u *unclosed) Read(p []byte) (int, error) {
	if u.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	u.read.Store(true)
	return u.body.Read(p)
}

// isWithheld reports whether the client waits for `100 Continue` before it sends the body of a request, which net/http sends
// when the body is first read.
func isWithheld(r *http.Request) bool {
	if r.ProtoMajor != 1 || !httpguts.HeaderValuesContainsToken(r.Header["Expect"], "100-continue") {
		return false
	}
	body := r.Body
	if left, ok := body.(*timedBody); ok {
		body = left.ReadCloser
	}
	u, ok := body.(*unclosed)
	return !ok || !u.read.Load()
}

// Close stops this handler's reads and leaves the client's body open.
func (u *unclosed) Close() error {
	u.closed.Store(true)
	return nil
}
