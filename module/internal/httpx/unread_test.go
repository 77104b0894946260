package httpx

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What is left of the body of an answered request is never the next request, whether the server reads it before it answers
// or, with full duplex, afterwards.
func TestBodyRemainderIsNotParsedAsARequest(t *testing.T) { // N18
	const within = 100 * time.Millisecond
	for name, leave := range map[string]func(w http.ResponseWriter, r *http.Request, fullDuplex bool){
		"refused": func(w http.ResponseWriter, r *http.Request, fullDuplex bool) { LeaveBody(w, r, within, fullDuplex) },
		"limited": func(w http.ResponseWriter, r *http.Request, fullDuplex bool) {
			_ = LimitBody(w, r, 100, within, fullDuplex)
		},
		"read in part": func(w http.ResponseWriter, r *http.Request, fullDuplex bool) {
			_ = LimitBody(w, r, 100, within, fullDuplex)
			_, _ = io.ReadFull(r.Body, make([]byte, 10)) // in vain
		},
	} {
		for _, fullDuplex := range []bool{false, true} {
			for _, framing := range []string{"Content-Length: 1000\r\n\r\nfirst", "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"} {
				t.Run(fmt.Sprintf("%s %v %.7s", name, fullDuplex, framing), func(t *testing.T) {
					t.Parallel()
					server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if r.URL.Path == "/inside" {
							t.Error("a part of the body is a request")
						}
						if fullDuplex {
							if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
								t.Error(err)
							}
						}
						leave(w, r, fullDuplex)
						w.WriteHeader(http.StatusUnauthorized)
					}))
					defer server.Close()
					c, err := net.Dial("tcp", server.Listener.Addr().String())
					if err != nil {
						t.Fatal(err)
					}
					defer func() { _ = c.Close() }()
					_, _ = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a\r\n%s", framing)
					time.Sleep(3 * within)
					_, _ = io.WriteString(c, "GET /inside HTTP/1.1\r\nHost: a\r\n\r\n")
					_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
					all, _ := io.ReadAll(c) // a reset may end it
					if n := strings.Count(string(all), "HTTP/1.1 401"); n > 1 {
						t.Errorf("%d answers", n)
					}
				})
			}
		}
	}
}

// A body that was read to its end leaves the connection open.
func TestConnectionIsReusedAfterTheBodyIsRead(t *testing.T) {
	connections := make(map[string]bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true
		_ = LimitBody(w, r, 100, time.Minute, true)
		if _, err := ReadBody(r); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	for range 3 {
		res, err := server.Client().Post(server.URL, "text/plain", strings.NewReader("whole"))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	if len(connections) != 1 {
		t.Errorf("%d connections", len(connections))
	}
}
