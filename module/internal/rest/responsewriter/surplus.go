package responsewriter

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go/http3"
)

// How much of a surplus is read, and for how long.
const (
	maxSurplus  = 256 << 10
	surplusTime = time.Second
)

// ErrSurplus is returned to a handler that goes on writing an answer of which nothing more is needed. To Caddy's
// reverse_proxy it looks like a client that cancelled its request, which is logged at level DEBUG only.
var ErrSurplus = fmt.Errorf("nothing more of the answer is needed: %w", &http3.Error{Remote: true, ErrorCode: http3.ErrCodeRequestCanceled})

// Surplus is the rest of an API's answer to a read, once nothing more of the body is needed. At most 256 KiB of it are
// read, for at most a second, because a connection to the API can be used again only after the whole answer has come.
// Then the request is cancelled. A nil Surplus is read to its end.
type Surplus struct {
	cancel context.CancelFunc
	timer  *time.Timer // nil while the answer is needed
	read   int
	ended  atomic.Bool // the request was ended
}

// NewSurplus returns the surplus of the answer to a request, and a context for that request.
func NewSurplus(ctx context.Context) (context.Context, *Surplus) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &Surplus{cancel: cancel}
}

// Send calls send, which sends the request. If nothing more of the answer was needed, the error or panic with which an
// answer breaks off is none.
func (s *Surplus) Send(send func() error) (err error) {
	if s == nil {
		return send()
	}
	defer func() {
		defer s.cancel()
		if s.timer != nil {
			s.timer.Stop()
		}
		if !s.Ended() {
			return
		}
		if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
			panic(p)
		}
		err = nil
	}()
	return send()
}

// Ended reports whether the request was ended before the answer was.
func (s *Surplus) Ended() bool { return s != nil && s.ended.Load() }

// begin is called when nothing more is needed.
func (s *Surplus) begin() {
	if s != nil && s.timer == nil {
		s.timer = time.AfterFunc(surplusTime, s.end)
	}
}

func (s *Surplus) end() {
	s.ended.Store(true)
	s.cancel()
}

// add takes what was read, and returns ErrSurplus when that is enough.
func (s *Surplus) add(n int) error {
	if s == nil {
		return nil
	}
	s.begin()
	if s.read += n; s.read > maxSurplus {
		s.ended.Store(true) // whoever writes ends the request when it gets the error
	}
	if s.Ended() {
		return ErrSurplus
	}
	return nil
}

// Head is the client's writer for the answer to a HEAD for which the API is asked with GET.
type Head struct {
	*HeaderWriter
	surplus *Surplus
}

// NewHead wraps w, whose server sends no body of an answer to HEAD.
func NewHead(w http.ResponseWriter, s *Surplus) *Head {
	return &Head{OnHeader(w, func(http.Header) { s.begin() }), s}
}

// Write implements http.ResponseWriter.
func (w *Head) Write(p []byte) (int, error) {
	if n, err := w.HeaderWriter.Write(p); err != nil {
		return n, err
	}
	if err := w.surplus.add(len(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ReadFrom keeps the body from bypassing Write.
func (w *Head) ReadFrom(from io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{w}, from)
}
