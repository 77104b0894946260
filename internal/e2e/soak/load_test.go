package soak

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// load is traffic of which no request may fail.
type load struct {
	t       *testing.T
	s       *site
	posts   *site // the same, over new connections
	browser *http.Client
	stopped atomic.Bool
	wg      sync.WaitGroup

	reads, slowReads, refreshes, codes, resets atomic.Int64
}

// patient tries once more when a request was certainly not looked at by the server that
// goes away, as browsers do. Caddy's next configuration listens on a socket of its own
// (SO_REUSEPORT): Linux resets what waits in the queue of the one that is closed unless
// net.ipv4.tcp_migrate_req is set, and net/http hangs up on a connection whose first
// request it reads when it is already shutting down.
type patient struct {
	base   http.RoundTripper
	resets *atomic.Int64
}

func (p patient) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := p.base.RoundTrip(r)
	if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		return res, err
	}
	p.resets.Add(1)
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return p.base.RoundTrip(again)
}

// Five hundred requests a second, together.
const (
	readers = 10
	pause   = 20 * time.Millisecond
)

// startLoad reads with readers over connections that are kept alive, and beside that
// runs slow requests, a chain of refreshes, and exchanges in a browser's session.
func startLoad(t *testing.T, s *site) *load {
	t.Helper()
	// A server that goes away closes idle connections, and a client cannot know whether
	// a POST that was just being sent was taken: nothing a server could mend. Posts use
	// connections of their own; a GET is repeated by net/http itself.
	browser := s.signIn(t)
	l := &load{t: t, browser: browser}
	f := s.grant(t, browser)
	chain := s.grant(t, browser).refresh
	reads, posts := *s, *s
	reads.plain, posts.plain = newClient(t, nil), newClient(t, nil)
	if transport, ok := posts.plain.Transport.(*http.Transport); ok {
		transport.DisableKeepAlives = true
	}
	for _, c := range []*http.Client{reads.plain, posts.plain, browser} {
		c.Transport = patient{c.Transport, &l.resets}
	}
	exchanging := s.signInAs(t, "bob").Client // alice has so many grants that f would end
	exchanging.Transport = patient{exchanging.Transport, &l.resets}
	l.s, l.posts = &reads, &posts
	for range readers {
		l.loop(l.reader(f.access))
	}
	for range 3 {
		l.loop(func() error {
			a, err := l.s.read("/read/slow", f.access)
			l.slowReads.Add(1)
			return expect(a, err, http.StatusOK)
		})
	}
	l.loop(func() error {
		a, err := l.posts.refresh(chain)
		chain = a.field("refresh_token")
		l.refreshes.Add(1)
		time.Sleep(pause)
		return expect(a, err, http.StatusOK)
	})
	l.loop(func() error {
		code, err := l.s.code(exchanging)
		if err != nil {
			return err
		}
		a, err := l.posts.exchange(code)
		l.codes.Add(1)
		time.Sleep(pause)
		return expect(a, err, http.StatusOK)
	})
	return l
}

// reader also sees that the limiter goes on counting: what remains only shrinks.
func (l *load) reader(access string) func() error {
	remaining := int64(1 << 60)
	next := time.Now()
	return func() error {
		time.Sleep(time.Until(next))
		next = next.Add(pause)
		a, err := l.s.read("/read", access)
		if err := expect(a, err, http.StatusOK); err != nil {
			return err
		}
		l.reads.Add(1)
		now, err := strconv.ParseInt(a.header.Get("X-RateLimit-Remaining"), 10, 64)
		if err != nil || now >= remaining {
			return fmt.Errorf("remaining %d after %d: %w", now, remaining, err)
		}
		remaining = now
		return nil
	}
}

func expect(a answer, err error, status int) error {
	if err == nil && a.status != status {
		err = fmt.Errorf("expected %d, got %v", status, a)
	}
	return err
}

func (l *load) loop(once func() error) {
	l.wg.Go(func() {
		for !l.stopped.Load() {
			if err := once(); err != nil {
				l.t.Error("under load:", err)
				return
			}
		}
	})
}

// stop ends the load and closes its connections.
func (l *load) stop() {
	l.stopped.Store(true)
	l.wg.Wait()
	l.s.plain.CloseIdleConnections()
	l.browser.CloseIdleConnections()
}

// CloseIdleConnections is what http.Client looks for.
func (p patient) CloseIdleConnections() { (&http.Client{Transport: p.base}).CloseIdleConnections() }

func (l *load) String() string {
	return fmt.Sprintf("%d reads, %d slow ones, %d refreshes, %d exchanges (%d tried once more)",
		l.reads.Load(), l.slowReads.Load(), l.refreshes.Load(), l.codes.Load(), l.resets.Load())
}
