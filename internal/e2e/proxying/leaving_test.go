package proxying

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// received is what a server got of a body, and how the body ended.
type received struct {
	body string
	err  error
}

// receiveBodies has a server report the bodies of requests, and answer those that are whole. begun is told of each
// request before its body.
func (s *server) receiveBodies() (begun chan bool, bodies chan received) {
	begun, bodies = make(chan bool, 1), make(chan received, 1)
	s.handleWith(func(c net.Conn, in *bufio.Reader) {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		begun <- true
		body, err := io.ReadAll(r.Body)
		bodies <- received{string(body), err}
		if err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}
	})
	return begun, bodies
}

// A body that its client did not send to the end must not look whole to the server, which would act on half of it.
func TestServerSeesThatTheClientLeft(t *testing.T) {
	s := start(t, "", "")
	for name, request := range map[string]string{
		"within a length": "PUT / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 9\r\n\r\nhi",
		"within a chunk":  "PUT / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhi",
		"after a chunk":   "PUT / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
		"in the trailer":  "PUT / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\nTrailer: Sum\r\n\r\n2\r\nhi\r\n0\r\nSum: 7\r\n",
	} {
		for way, leave := range map[string]func(c *net.TCPConn){
			"closes": func(c *net.TCPConn) { _ = c.Close() },
			"resets": func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() },
			"stops":  func(c *net.TCPConn) { _ = c.CloseWrite() }, // and waits for an answer
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				s.onBoth(t, func(t *testing.T, site string) {
					begun, bodies := s.server.receiveBodies()
					c := harness.Dial(t, site)
					_, _ = io.WriteString(c, strings.ReplaceAll(request, "$HOST", host(t, site)))
					within(t, 10*time.Second, "the request", func() { <-begun })
					leave(c.(*net.TCPConn))
					var got received
					within(t, 10*time.Second, "the end of the body", func() { got = <-bodies })
					if got.err == nil || !strings.HasPrefix("hi", got.body) {
						t.Errorf("the server received %q, %v", got.body, got.err)
					}
				})
			})
		}
	}
}

// Over HTTP/2 a client leaves by resetting its stream; the connection stays.
func TestServerSeesThatTheStreamWasReset(t *testing.T) {
	s := start(t, "servers {\n\t\tprotocols h1 h2c\n\t}", "")
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	for name, length := range map[string]int64{"of a length": 9, "of unknown length": -1} {
		t.Run(name, func(t *testing.T) {
			s.onBoth(t, func(t *testing.T, site string) {
				begun, bodies := s.server.receiveBodies()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				body, writer := io.Pipe()
				defer writer.Close()
				r, err := http.NewRequestWithContext(ctx, http.MethodPut, site, body)
				if err != nil {
					t.Fatal(err)
				}
				r.ContentLength = length
				ended := make(chan error)
				go func() {
					_, err := transport.RoundTrip(r)
					ended <- err
				}()
				_, _ = io.WriteString(writer, "hi")
				within(t, 10*time.Second, "the request", func() { <-begun })
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				var got received
				within(t, 10*time.Second, "the end of the body", func() { got = <-bodies })
				if got.err == nil || !strings.HasPrefix("hi", got.body) {
					t.Errorf("the server received %q, %v", got.body, got.err)
				}
			})
		})
	}
}
