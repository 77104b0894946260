package restapi

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
)

// memory is a request's body that the gateway has written or read as a whole. It can be sent
// again without a copy.
type memory struct {
	*bytes.Reader
	text []byte
}

func inMemory(text []byte) io.ReadCloser { return memory{bytes.NewReader(text), text} }

// Close implements io.Closer.
func (memory) Close() error { return nil }

// leastHeld is how many bytes of streaming bodies are kept for all requests together, or more
// where max_body is large.
const leastHeld = 64 << 20

// heldBodies bounds the bodies of clients that are kept to be sent again.
type heldBodies struct {
	most  int64
	bytes atomic.Int64
}

func (b *heldBodies) take(n int64) bool {
	if b.bytes.Add(n) <= b.most {
		return true
	}
	b.bytes.Add(-n)
	return false
}

// replay gives copies of a request to send, each with the whole body. It reports false for a
// body that can be sent only once: one that streams and is larger than maxBody or of unknown
// length, or any that streams while too many others are kept. release ends the use of the copies.
func (b *heldBodies) replay(r *http.Request, maxBody int64) (again func() *http.Request, replayable bool, release func()) {
	again, release = func() *http.Request { return own(r) }, func() {}
	n := r.ContentLength
	if r.Body == nil || r.Body == http.NoBody || n == 0 {
		return again, true, release
	}
	if m, ok := r.Body.(memory); ok {
		return with(r, func() io.ReadCloser { return inMemory(m.text) }), true, release
	}
	if n < 0 || n > maxBody || !b.take(n) {
		return again, false, release
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, n))
	return with(r, func() io.ReadCloser {
		return io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	}), true, func() { b.bytes.Add(-n) }
}

// with gives copies of a request, each with a body of its own.
func with(r *http.Request, body func() io.ReadCloser) func() *http.Request {
	return func() *http.Request {
		q := own(r)
		q.Body = body()
		return q
	}
}

// failing is the end of a body that broke off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}
