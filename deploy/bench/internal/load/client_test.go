package load

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// seen counts what reached a server.
type seen struct {
	sync.Mutex
	tokens map[string]int
	protos map[string]int
	n      atomic.Int64
}

func (s *seen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.n.Add(1)
	s.Lock()
	s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]++
	s.protos[r.Proto]++
	s.Unlock()
	switch r.URL.Path {
	case "/chunks":
		for range 3 {
			_, _ = w.Write([]byte(strings.Repeat("x", 5000)))
			w.(http.Flusher).Flush()
		}
	case "/close":
		w.Header().Set("Connection", "close")
	case "/empty":
		w.WriteHeader(http.StatusNoContent)
	case "/refused":
		w.WriteHeader(http.StatusUnauthorized)
	case "/overloaded":
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		_, _ = w.Write([]byte("ok"))
	}
}

func newSeen() *seen { return &seen{tokens: make(map[string]int), protos: make(map[string]int)} }

func target(s *httptest.Server, path string, status int) Target {
	address := s.Listener.Addr().String()
	return Target{Address: address, Request: Request{Method: "GET", Path: path, Host: address}, Status: status, Connections: 3}
}

func TestResponsesOfEveryFramingAreRead(t *testing.T) {
	s := httptest.NewServer(newSeen())
	defer s.Close()
	for path, status := range map[string]int{"/": 200, "/chunks": 200, "/close": 200, "/empty": 204, "/refused": 401} {
		c, err := Open(target(s, path, status))
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Run(20 * time.Millisecond)
		if err != nil || r.Count() < 3 {
			t.Errorf("%s: %d responses, %v", path, r.Count(), err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUnexpectedStatusIsAnError(t *testing.T) {
	s := httptest.NewServer(newSeen())
	defer s.Close()
	c, err := Open(target(s, "/refused", 200))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Run(time.Millisecond); err == nil || !strings.Contains(err.Error(), "expected status 200, got 401") {
		t.Error(err)
	}
	if err := c.Prime(5); err != nil {
		t.Error("while priming any status is good:", err)
	}
}

func TestRefusalsUnderLoadAreCounted(t *testing.T) {
	s := httptest.NewServer(newSeen())
	defer s.Close()
	c, err := Open(target(s, "/overloaded", 200))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if r, err := c.Run(time.Millisecond); err != nil || r.Refused != r.Count() || r.Refused < 3 {
		t.Errorf("%d of %d refused: %v", r.Refused, r.Count(), err)
	}
}

func TestClosingTheClientEndsARun(t *testing.T) {
	h := newSeen()
	s := httptest.NewServer(h)
	defer s.Close()
	c, err := Open(target(s, "/", 200))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- c.Prime(1 << 40) }()
	for h.n.Load() < 10 {
		time.Sleep(time.Millisecond)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("no error")
	}
	if err := c.Close(); err != nil {
		t.Error("closing again:", err)
	}
}

func TestTokensAreUsedInOrder(t *testing.T) {
	h := newSeen()
	s := httptest.NewServer(h)
	defer s.Close()
	to := target(s, "/", 200)
	to.Request.Tokens = NewTokens([]string{"a", "b", "c", "d"})
	c, err := Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Prime(10); err != nil {
		t.Fatal(err)
	}
	if n := h.n.Load(); n != 10 {
		t.Error(n, "requests, expected 10")
	}
	for token, want := range map[string]int{"a": 3, "b": 3, "c": 2, "d": 2} {
		if h.tokens[token] != want {
			t.Errorf("%s was sent %d times, expected %d", token, h.tokens[token], want)
		}
	}
}

func TestRequestRateIsKept(t *testing.T) {
	h := newSeen()
	s := httptest.NewServer(h)
	defer s.Close()
	c, err := Open(target(s, "/", 200))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.RunAt(250, 500*time.Millisecond)
	if err != nil || r.Count() != 125 {
		t.Errorf("%d responses, expected 125: %v", r.Count(), err)
	}
}

func TestLoadClientSendsABody(t *testing.T) {
	var form atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { form.Store(r.FormValue("grant_type")) }))
	defer s.Close()
	to := target(s, "/token", 200)
	to.Request.Method, to.Request.Body = "POST", "grant_type=client_credentials"
	to.Request.Fields = []string{"Content-Type: application/x-www-form-urlencoded"}
	c, err := Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Prime(2); err != nil || form.Load() != "client_credentials" {
		t.Error(form.Load(), err)
	}
}

func TestHTTP2Streams(t *testing.T) {
	h := newSeen()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	to := target(s, "/chunks", 200)
	to.Streams, to.TLS = 4, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	to.Request.Tokens = NewTokens([]string{"a", "b"})
	c, err := Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 { // the connections are used again
		if r, err := c.Run(30 * time.Millisecond); err != nil || r.Count() < 12 {
			t.Fatalf("%d responses, %v", r.Count(), err)
		}
	}
	if h.protos["HTTP/2.0"] == 0 || len(h.protos) != 1 || h.tokens["a"] == 0 || h.tokens["b"] == 0 || len(h.tokens) != 2 {
		t.Error(h.protos, h.tokens)
	}
	to.Request.Path, to.Status = "/refused", 200
	other, err := Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Run(time.Millisecond); err == nil || !strings.Contains(err.Error(), "expected status 200, got 401") {
		t.Error(err)
	}
}
