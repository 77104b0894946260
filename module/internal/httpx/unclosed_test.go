package httpx_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// A request in the body of another one is never answered, whoever closes the body.
func TestPipelinedRequestInAnUnreadBodyIsNotAnswered(t *testing.T) {
	const inside = "GET /inside HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, length := range []int{len(inside), 300 << 10, 2 << 20} {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprint(length, chunked), func(t *testing.T) {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/inside" {
						t.Error("a part of the body was taken for a request")
						return
					}
					r.Body = struct{ io.ReadCloser }{r.Body} // as Caddy's server wraps it
					r.Body = httpx.Unclosed(r)
					_ = r.Body.Close()
					if _, err := r.Body.Read(make([]byte, 1)); err == nil {
						t.Error("a body that was closed is read")
					}
					w.WriteHeader(http.StatusUnauthorized)
				}))
				defer s.Close()
				c, err := net.Dial("tcp", s.Listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				body := strings.Repeat(inside, length/len(inside))
				go func() {
					head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", len(body))
					if chunked {
						head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
						body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
					}
					_, _ = io.WriteString(c, head+body+"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
				}()
				a, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil || a.StatusCode != http.StatusUnauthorized {
					t.Fatal(a, err)
				}
				_, _ = io.Copy(io.Discard, c) // to its end
			})
		}
	}
}

func TestOnlyHTTP1BodiesAreKeptOpen(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
	kept := httpx.Unclosed(r)
	if kept == r.Body {
		t.Error("a body can be closed")
	}
	if r.Body = kept; httpx.Unclosed(r) != kept {
		t.Error("it is wrapped twice")
	}
	r = httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
	if r.ProtoMajor = 2; httpx.Unclosed(r) != r.Body {
		t.Error("a stream of HTTP/2 is kept open")
	}
	r = httptest.NewRequest(http.MethodGet, "/", nil)
	if httpx.Unclosed(r) != r.Body {
		t.Error("a request without a body has another")
	}
}
