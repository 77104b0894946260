package request

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
)

// minReplayMemory is how many bytes of clients' bodies are kept for all requests together, or
// more where requests may be large.
const minReplayMemory = 64 << 20

// maxRead is by how much a body may exceed that before it is noticed.
const maxRead = 32 << 10

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

// Replay returns a function that makes copies of a request, each with the complete body. replayable is false for a body
// that only the first copy has: one of more than maxBody bytes, or of unknown length and more than maxUnknown bytes, or
// any that is not in memory while too many others are kept. release must be called when no further copy is needed.
func (p *Replayer) Replay(r *http.Request, maxBody, maxUnknown int64) (again func() *http.Request, replayable bool, release func()) {
	again, release = func() *http.Request { return Copy(r) }, func() {}
	n := r.ContentLength
	if r.Body == nil || r.Body == http.NoBody || n == 0 {
		return again, true, release
	}
	if m, ok := r.Body.(memory); ok {
		return copiesWithBody(r, func() io.ReadCloser { return InMemory(m.text) }), true, release
	}
	from, most := io.LimitReader(r.Body, n), n
	if n < 0 {
		from, most = r.Body, min(maxBody, maxUnknown)
	}
	if most == 0 || n > maxBody {
		return again, false, release
	}
	body, replayable, err := p.keep(from, most)
	rest := io.Reader(endOfBody{err})
	if !replayable {
		rest = r.Body
	}
	return copiesWithBody(r, func() io.ReadCloser {
		return io.NopCloser(io.MultiReader(bytes.NewReader(body), rest))
	}), replayable, func() { p.kept.Add(-int64(len(body))) }
}

// keep reads a body of at most limit bytes. It counts what has arrived, not what was announced: a client that sends
// slowly takes no room from others. complete is false if the body is longer, or there is no room for more of it. err is
// the error by which the body ended.
func (p *Replayer) keep(body io.Reader, limit int64) (kept []byte, complete bool, err error) {
	for int64(len(kept)) <= limit && p.kept.Load() < p.most {
		kept = slices.Grow(kept, bytes.MinRead)
		n, err := body.Read(kept[len(kept):min(cap(kept), len(kept)+maxRead)])
		kept = kept[:len(kept)+n]
		p.kept.Add(int64(n))
		switch {
		case err == io.EOF:
			return kept, int64(len(kept)) <= limit, nil
		case err != nil:
			return kept, true, err
		}
	}
	return kept, false, nil
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
