package httpx

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// wrapped hides net/http's type of a body, as Caddy does.
type wrapped struct{ io.ReadCloser }

// A client that waits for `100 Continue` has its refusal at once (RFC 9110 section 10.1.1).
func TestRefusalDoesNotWaitForAWithheldBody(t *testing.T) {
	const within = time.Minute
	leave := func(w http.ResponseWriter, r *http.Request) { LeaveBody(w, r, within, false) }
	limit := func(w http.ResponseWriter, r *http.Request) { _ = LimitBody(w, r, 100, within, false) }
	for name, c := range map[string]struct {
		handle func(w http.ResponseWriter, r *http.Request)
		kept   bool // the body is sent and read, and the connection stays open
	}{
		"left":           {leave, false},
		"left twice":     {func(w http.ResponseWriter, r *http.Request) { leave(w, r); leave(w, r) }, false},
		"left, unclosed": {func(w http.ResponseWriter, r *http.Request) { r.Body = Unclosed(r); leave(w, r) }, false},
		"limited":        {limit, false},
		"limited, read":  {func(w http.ResponseWriter, r *http.Request) { limit(w, r); _, _ = ReadBody(r) }, true},
		"read, then left": {func(w http.ResponseWriter, r *http.Request) {
			r.Body = Unclosed(r)
			_, _ = io.ReadAll(r.Body)
			leave(w, r)
			leave(w, r)
		}, true},
	} {
		for _, framing := range []string{"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"} {
			t.Run(name+" "+framing[:7], func(t *testing.T) {
				t.Parallel()
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					r.Body = wrapped{r.Body}
					c.handle(w, r)
					w.WriteHeader(http.StatusUnauthorized)
				}))
				defer server.Close()
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				_ = conn.SetReadDeadline(time.Now().Add(within / 4))
				_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n%s\r\n", framing)
				in := bufio.NewReader(conn)
				res, err := http.ReadResponse(in, nil)
				if err == nil && res.StatusCode == http.StatusContinue && c.kept {
					body := "whole"
					if framing[0] == 'T' {
						body = "5\r\nwhole\r\n0\r\n\r\n"
					}
					_, _ = io.WriteString(conn, body)
					res, err = http.ReadResponse(in, nil)
				}
				if err != nil || res.StatusCode != http.StatusUnauthorized || res.Close == c.kept {
					t.Fatalf("%+v, %v", res, err)
				}
			})
		}
	}
}
