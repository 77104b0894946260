package request

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
)

// minReplayMemory is how many bytes of clients' bodies are kept for all requests together, or
// more where requests may be large.
const minReplayMemory = 64 << 20

// Replayer keeps bodies of clients so that a request can be sent again. It bounds how many bytes
// are kept in total, because clients choose how much they send. It is safe for concurrent use.
type Replayer struct {
	most int64
	kept atomic.Int64
}

// NewReplayer returns a replayer for bodies of at most maxBody bytes.
func NewReplayer(maxBody int64) *Replayer {
	return &Replayer{most: max(minReplayMemory, 4*maxBody)}
}

func (p *Replayer) reserve(n int64) bool {
	if p.kept.Add(n) <= p.most {
		return true
	}
	p.kept.Add(-n)
	return false
}

// Replay returns a function that makes copies of a request, each with the complete body.
// replayable is false for a body that can be sent only once: one of unknown length or more than
// maxBody bytes, or any that is not in memory while too many others are kept. release must be
// called when no further copy is needed.
func (p *Replayer) Replay(r *http.Request, maxBody int64) (again func() *http.Request, replayable bool, release func()) {
	again, release = func() *http.Request { return Copy(r) }, func() {}
	n := r.ContentLength
	if r.Body == nil || r.Body == http.NoBody || n == 0 {
		return again, true, release
	}
	if m, ok := r.Body.(memory); ok {
		return copiesWithBody(r, func() io.ReadCloser { return InMemory(m.text) }), true, release
	}
	if n < 0 || n > maxBody || !p.reserve(n) {
		return again, false, release
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, n))
	return copiesWithBody(r, func() io.ReadCloser {
		return io.NopCloser(io.MultiReader(bytes.NewReader(body), endOfBody{err}))
	}), true, func() { p.kept.Add(-n) }
}

func copiesWithBody(r *http.Request, body func() io.ReadCloser) func() *http.Request {
	return func() *http.Request {
		c := Copy(r)
		c.Body = body()
		return c
	}
}

// endOfBody is the end of a body, with the error by which the client's ended.
type endOfBody struct{ err error }

func (e endOfBody) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}
