package http1_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/http1"
)

// gathering sends what is written between gather and send at once, but for the last bytes, which are sent with what is
// written next.
type gathering struct {
	net.Conn
	gather bool
	text   []byte
}

func (c *gathering) Write(p []byte) (int, error) {
	c.text = append(c.text, p...)
	if !c.gather {
		c.send(0)
	}
	return len(p), nil
}

func (c *gathering) send(but int) {
	c.gather = false
	_, _ = c.Conn.Write(c.text[:len(c.text)-but])
	c.text = append(c.text[:0], c.text[len(c.text)-but:]...)
}

// secure starts a server with TLS that counts connections, and returns a transport to it.
func secure(t *testing.T, handle func(n int, raw *gathering, c *tls.Conn, in *bufio.Reader)) *http1.Transport {
	t.Helper()
	helper := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(helper.Close)
	trust := helper.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trust.ServerName = "example.com"
	identity := helper.TLS.Clone()
	identity.NextProtos = nil
	identity.DynamicRecordSizingDisabled = true
	tr := serve(t, func(n int, raw net.Conn, _ *bufio.Reader) {
		g := &gathering{Conn: raw}
		c := tls.Server(g, identity)
		handle(n, g, c, bufio.NewReader(c))
	})
	dial := tr.Dial
	tr.Dial = func(ctx context.Context) (net.Conn, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return http1.Secure(ctx, c, trust)
	}
	return tr
}

// What a server with TLS sends after an answer is for nobody, wherever it is when the connection is to be used again: in
// our buffer, decrypted, read ahead, half there, or still to be read.
func TestUnsolicitedTLSDataIsDiscarded(t *testing.T) {
	const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nFORGED"
	answer := func(size, n int) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%*d", size, size, n)
	}
	for name, send := range map[string]func(raw *gathering, c *tls.Conn, answer string){
		"nothing":       func(_ *gathering, c *tls.Conn, answer string) { _, _ = c.Write([]byte(answer)) },
		"in one record": func(_ *gathering, c *tls.Conn, answer string) { _, _ = c.Write([]byte(answer + forged)) },
		"in a later record": func(_ *gathering, c *tls.Conn, answer string) {
			_, _ = c.Write([]byte(answer))
			time.Sleep(10 * time.Millisecond) // the answer has been read
			_, _ = c.Write([]byte(forged))
		},
		"in a record that came with the answer": func(raw *gathering, c *tls.Conn, answer string) {
			raw.gather = true
			_, _ = c.Write([]byte(answer))
			_, _ = c.Write([]byte(forged))
			raw.send(0)
		},
		"in a part of a record that came with the answer": func(raw *gathering, c *tls.Conn, answer string) {
			raw.gather = true
			_, _ = c.Write([]byte(answer))
			_, _ = c.Write([]byte(forged))
			raw.send(10)
		},
	} {
		for _, size := range []int{2 << 10, 12 << 10} { // less and more than is buffered
			t.Run(fmt.Sprint(name, " of ", size), func(t *testing.T) {
				sent := make(chan bool, 10)
				tr := secure(t, func(n int, raw *gathering, c *tls.Conn, in *bufio.Reader) {
					for {
						if _, err := readRequest(in); err != nil {
							return
						}
						send(raw, c, answer(size, n))
						sent <- true
					}
				})
				for i := range 3 {
					want := fmt.Sprint(" ", i)
					if name == "nothing" {
						want = " 0" // the connection is kept
					}
					got, err := fetch(t, tr, get())
					if err != nil || !strings.Contains(got, want) {
						t.Fatalf("request %d: %.60q, %v; want%s", i, strings.Join(strings.Fields(got), " "), err, want)
					}
					<-sent
					time.Sleep(20 * time.Millisecond) // all of it has arrived
				}
			})
		}
	}
}

// One request that a server does not survive is not sent on one kept connection after the other.
func TestRequestIsRetriedOnce(t *testing.T) {
	seen := make(chan int, 100)
	tr := serve(t, func(n int, c net.Conn, in *bufio.Reader) {
		for first := true; ; first = false {
			request, err := readRequest(in)
			if err != nil {
				return
			}
			if strings.Contains(request, "/poison") {
				seen <- n
				return
			}
			if first {
				time.Sleep(50 * time.Millisecond) // so that each of the first requests has a connection of its own
			}
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))
		}
	})
	done := make(chan error)
	for range 4 {
		go func() {
			_, err := fetch(t, tr, get())
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	poison := get()
	poison.Path = "/poison"
	if _, err := fetch(t, tr, poison); err == nil {
		t.Error("it is answered")
	}
	if len(seen) != 2 {
		t.Errorf("it is sent %d times", len(seen))
	}
}
