package proxying

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// server is the server behind the proxies. Each connection is handled by handle.
type server struct {
	net.Listener

	mu     sync.Mutex
	handle func(c net.Conn, in *bufio.Reader)
	answer func(r *http.Request, body string) string
}

// newServer listens on a TCP port, or on a unix socket.
func newServer(t testing.TB, network, address string) *server {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				s.mu.Lock()
				handle := s.handle
				s.mu.Unlock()
				handle(c, bufio.NewReader(c))
			}()
		}
	}()
	return s
}

// handleWith sets how connections from now on are handled.
func (s *server) handleWith(f func(c net.Conn, in *bufio.Reader)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handle = f
}

// answerWith answers each request with the text that f returns for it, on connections that are kept
// from before too.
func (s *server) answerWith(f func(r *http.Request, body string) string) {
	s.mu.Lock()
	s.answer = f
	s.mu.Unlock()
	s.handleWith(func(c net.Conn, in *bufio.Reader) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			s.mu.Lock()
			answer := s.answer
			s.mu.Unlock()
			if _, err := io.WriteString(c, answer(r, string(body))); err != nil {
				return
			}
		}
	})
}

// stand is both proxies in front of one server.
type stand struct {
	*harness.Gateway
	server *server
	sites  map[string]string // the address of each proxy
}

const caddyfile = `{
` + harness.Quiet + `
	auto_https off
	$GLOBAL
}
http://$ID {
	reverse_proxy $SERVER
}
http://$API {
	api_proxy $SERVER {
		$WORDS
	}
}
`

// start starts both proxies, api_proxy with some words.
func start(t testing.TB, global, words string) *stand {
	t.Helper()
	s := &stand{server: newServer(t, "tcp", "127.0.0.1:0")}
	s.Gateway = harness.Start(t, caddyfile, "$SERVER", s.server.Addr().String(), "$GLOBAL", global, "$WORDS", words)
	s.sites = map[string]string{"reverse_proxy": s.ID, "api_proxy": s.API}
	return s
}

// onBoth runs a test with each of the proxies.
func (s *stand) onBoth(t *testing.T, f func(t *testing.T, site string)) {
	for _, name := range slices.Sorted(maps.Keys(s.sites)) {
		t.Run(name, func(t *testing.T) { f(t, s.sites[name]) })
	}
}

// host is the host and port of a site.
func host(t testing.TB, site string) string {
	t.Helper()
	u, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// converse sends bytes to a site and reads everything that is answered, until the site closes the
// connection. $HOST is the site's.
func converse(t testing.TB, site, request string) string {
	t.Helper()
	c := harness.Dial(t, site)
	if _, err := io.WriteString(c, strings.ReplaceAll(request, "$HOST", host(t, site))); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(c) // an aborted answer ends with a reset or not
	return string(answer)
}

// get is a request after which the connection is closed.
const get = "GET /a%2Fb?c=d%20e HTTP/1.1\r\nHost: $HOST\r\nConnection: close\r\n\r\n"

// guessedType is what Go's server says of a text without a type, if it has a part of it before it
// writes the header.
const guessedType = "text/plain; charset=utf-8"

// meaning returns what a client understands of an answer: how long it is may be said in two ways.
func meaning(t testing.TB, answer string) string {
	t.Helper()
	in := bufio.NewReader(strings.NewReader(answer))
	var text strings.Builder
	for {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%v: %q", err, answer)
		}
		body, err := io.ReadAll(res.Body)
		for _, name := range []string{"Date", "Content-Length", "Trailer"} {
			res.Header.Del(name)
		}
		if res.Header.Get("Content-Type") == guessedType {
			res.Header.Del("Content-Type")
		}
		fmt.Fprintf(&text, "%d %v %q %v %v\n", res.StatusCode, res.Header, body, res.Trailer, err)
		if res.StatusCode >= 200 {
			return text.String()
		}
	}
}

// within fails the test if f takes longer than it should.
func within(t testing.TB, d time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("%s takes longer than %v", what, d)
	}
}
