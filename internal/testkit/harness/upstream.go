package harness

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Upstream is a legacy API that records the requests it receives.
type Upstream struct {
	// Addr is host:port.
	Addr string

	mu   sync.Mutex
	hits []*http.Request
	// Answer replaces the default answer, which is 200 {"ok":true}.
	answer http.HandlerFunc
}

// NewUpstream starts an Upstream.
func NewUpstream(t testing.TB) *Upstream {
	t.Helper()
	u := new(Upstream)
	s := httptest.NewServer(u)
	t.Cleanup(s.Close)
	u.Addr = strings.TrimPrefix(s.URL, "http://")
	return u
}

// ServeHTTP implements http.Handler.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	u.hits = append(u.hits, r.Clone(r.Context()))
	answer := u.answer
	u.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"ok":true}`)
}

// Answer sets the response to requests from now on. nil is the default.
func (u *Upstream) Answer(h http.HandlerFunc) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answer = h
}

// Hits returns the requests received since its last call.
func (u *Upstream) Hits() []*http.Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	hits := u.hits
	u.hits = nil
	return hits
}
