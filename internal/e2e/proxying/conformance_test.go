package proxying

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// A server may close a kept connection after any byte of its answer. A request that may be sent
// twice never suffers if that is before the first, and no client takes a part for the whole.
func TestServerClosesKeptConnectionMidAnswer(t *testing.T) {
	const head, body = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"
	s := start(t, "", "")
	var bytes atomic.Int64
	s.server.answerPart(head+body, &bytes)
	s.onBoth(t, func(t *testing.T, site string) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			for part := range len(head + body) {
				bytes.Store(int64(part))
				status, text, err := s.onKeptConnection(t, method, site)
				want := http.StatusBadGateway
				switch {
				case part == 0 && method == http.MethodGet, part >= len(head):
					want = http.StatusOK
				}
				if status != want || part >= len(head) != (err != nil) || part == 0 && want == http.StatusOK && text != body {
					t.Fatalf("%s, %d bytes of the answer: %d %q %v, want %d", method, part, status, text, err, want)
				}
			}
		}
	})
}

// answerPart answers requests whole, but the next for /part that comes on a kept connection: it gets
// as many bytes as part says, which is -1 from then on. One on a new connection is told so.
func (s *server) answerPart(answer string, part *atomic.Int64) {
	s.handleWith(func(c net.Conn, in *bufio.Reader) {
		for n := 0; ; n++ {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			text := answer
			if r.URL.Path == "/part" && n == 0 && part.Load() >= 0 {
				text = "HTTP/1.1 204 No Content\r\n\r\n"
			} else if r.URL.Path == "/part" {
				if bytes := part.Swap(-1); bytes >= 0 {
					_, _ = io.WriteString(c, answer[:bytes])
					return
				}
			}
			_, _ = io.WriteString(c, text)
		}
	})
}

// onKeptConnection asks for /part until the request comes on a kept connection.
func (s *stand) onKeptConnection(t *testing.T, method, site string) (status int, body string, err error) {
	t.Helper()
	for range 100 {
		harness.Get(t, site)
		r, err := http.NewRequest(method, site+"/part", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodGet {
			r.Body, r.ContentLength = http.NoBody, 0
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusNoContent {
			return res.StatusCode, string(text), err
		}
	}
	t.Fatal("no connection is kept")
	return 0, "", nil
}

// A server may also close after any byte of a request.
func TestServerClosesMidRequest(t *testing.T) {
	s := start(t, "", "")
	s.onBoth(t, func(t *testing.T, site string) {
		for _, bytes := range []int64{0, 1, 40, 200, 70_000} {
			s.server.handleWith(func(_ net.Conn, in *bufio.Reader) { _, _ = io.CopyN(io.Discard, in, bytes) })
			if p := put(t, site, 200_000); p.Status != http.StatusBadGateway {
				t.Error(bytes, p.Status)
			}
		}
	})
}

// put sends a body, which need not be accepted, and reads the answer.
func put(t *testing.T, site string, size int) harness.Page {
	t.Helper()
	c := harness.Dial(t, site)
	go fmt.Fprintf(c, "PUT / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", host(t, site), size, strings.Repeat("x", size))
	return harness.ReadAnswer(t, bufio.NewReader(c), http.MethodPut)
}

// drip writes a text byte by byte.
func drip(c net.Conn, text string) {
	for i := range len(text) {
		_, _ = io.WriteString(c, text[i:i+1])
	}
}

func TestByteByByteClientsAndServers(t *testing.T) {
	s := start(t, "", "")
	for name, answer := range map[string]string{
		"length": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
		"chunks": "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nSum: 7\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s.onBoth(t, func(t *testing.T, site string) {
				s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					if body, err := io.ReadAll(r.Body); string(body) != "hello" || err != nil {
						return
					}
					drip(c, answer)
				})
				c := harness.Dial(t, site)
				go drip(c, strings.ReplaceAll("PUT / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\nh\r\n4;x\r\nello\r\n0\r\n\r\n", "$HOST", host(t, site)))
				all, err := io.ReadAll(c)
				if text := meaning(t, string(all)); err != nil || !strings.Contains(text, `"hello"`) || strings.Contains(text, "EOF") {
					t.Errorf("%v\n%s", err, text)
				}
			})
		})
	}
}

// most is how much may be on the way between a client and a server of which one does not read:
// buffers of the machine's network, of which there are four.
const most = 64 << 20

// fill writes until nothing is accepted any more.
func fill(t *testing.T, c net.Conn) {
	t.Helper()
	part := make([]byte, 256<<10)
	for sent := 0; ; {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := c.Write(part)
		if sent += n; sent > most {
			t.Errorf("%d bytes are accepted that nobody reads", sent)
			return
		}
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return
		} else if err != nil {
			t.Error(err)
			return
		}
	}
}

func TestSlowReaderBlocksTheWriter(t *testing.T) {
	s := start(t, "", "")
	s.onBoth(t, func(t *testing.T, site string) {
		filled := make(chan bool)
		s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
			if _, err := http.ReadRequest(in); err == nil {
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", 2*most)
				fill(t, c)
				close(filled)
			}
		})
		c := harness.Dial(t, site)
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host(t, site))
		<-filled
		_ = c.Close()

		release := make(chan bool)
		s.server.handleWith(func(_ net.Conn, _ *bufio.Reader) { <-release })
		c = harness.Dial(t, site)
		fmt.Fprintf(c, "PUT / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", host(t, site), 2*most)
		fill(t, c)
		_ = c.Close()
		close(release)
	})
}

// An answer to what the client has sent as a whole is the same early or late.
func TestAnswerThatDoesNotWaitForTheBody(t *testing.T) {
	s := start(t, "", "")
	s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
		_, _ = io.Copy(io.Discard, in)
	})
	s.onBoth(t, func(t *testing.T, site string) {
		for _, size := range []int{1, 10_000, 200_000} {
			if p := put(t, site, size); p.Status != http.StatusRequestEntityTooLarge || p.Body != "no" {
				t.Error(size, p.Status, p.Body)
			}
		}
	})
}

// soak reports whether the long form of tests is asked for.
func soak() bool { return os.Getenv("GATEHOUSE_SOAK") != "" }
