package httpx

import (
	"io"
	"net/http"
	"sync/atomic"
)

// Unclosed is a client's body that handlers behind cannot close, as a proxy's transport does when
// the upstream answers before it has read the whole body. net/http ends the connection after a
// body that was closed early only if it sees its own type there. Behind a server that wraps
// bodies, as Caddy's does, it would take what is left of the body for the next request on the
// connection. A body that nobody has closed it reads to its end before it answers, or it ends
// the connection.
func Unclosed(r *http.Request) io.ReadCloser {
	if _, done := r.Body.(*unclosed); done || r.ProtoMajor != 1 || r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return r.Body
	}
	return &unclosed{body: r.Body}
}

type unclosed struct {
	body   io.Reader
	closed atomic.Bool
}

// Read implements io.Reader.
func (u *unclosed) Read(p []byte) (int, error) {
	if u.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	return u.body.Read(p)
}

// Close ends the reading of this handler alone.
func (u *unclosed) Close() error {
	u.closed.Store(true)
	return nil
}
