package http

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/gatehouse/gatehouse/module/directory"
)

// An endpoint may give such an answer to wrong passwords alone. A fault of its own says nothing about them.
func TestAnswersThatAreNeitherYesNorNoAreUnclear(t *testing.T) {
	e := newEndpoint(t)
	d := opened(t, &Source{URL: e.URL, Lookup: e.URL + "/{id}", OKWhen: &Condition{Pointer: "/code", Values: []string{"0"}}})
	for _, c := range []struct {
		status  int
		body    string
		unclear bool
	}{
		{http.StatusTooManyRequests, `{}`, true}, {http.StatusFound, "", true}, {http.StatusOK, "<html>", true}, {http.StatusOK, `{"code":7}`, true},
		{http.StatusOK, strings.Repeat("x", usualBody+1), true}, {http.StatusInternalServerError, `{}`, false}, {http.StatusInternalServerError, strings.Repeat("x", usualBody+1), false}, {http.StatusBadGateway, "", false},
	} {
		e.says(c.status, c.body)
		_, ok, err := d.Authenticate(t.Context(), "ann", "secret")
		if ok || err == nil || errors.Is(err, directory.ErrUnclear) != c.unclear {
			t.Errorf("%d %.20q: %t, %v", c.status, c.body, ok, err)
		}
	}
	e.says(http.StatusUnauthorized, `{}`)
	if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err != nil {
		t.Errorf("a refusal: %t, %v", ok, err)
	}
}

// So may one that breaks off, by a Content-Length that is wrong in its refusals alone.
func TestAnswersThatBreakOffAreUnclear(t *testing.T) {
	e := newEndpoint(t)
	d := opened(t, &Source{URL: e.URL, Lookup: e.URL + "/{id}"})
	for status, unclear := range map[int]bool{http.StatusUnauthorized: true, http.StatusOK: true, http.StatusInternalServerError: false} {
		answer := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{}`)
		}
		e.answer.Store(&answer)
		if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil || errors.Is(err, directory.ErrUnclear) != unclear {
			t.Errorf("%d: %t, %v", status, ok, err)
		}
	}
}

// So may one whose header cannot be read, and a connection that ends without one.
func TestAnswersWithoutAReadableHeaderAreUnclear(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 401 Unauthorized\r\nContent-Length: two\r\n\r\n{}",
		"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"HTTP/1.1 302 Found\r\nLocation: /login?100%\x01\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: /login/100%\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 401 Unauthorized\r\nX: " + strings.Repeat("x", 128<<10) + "\r\n\r\n",
		"wrong password\r\n",
		"",
	} {
		url := listen(t, func(c net.Conn) {
			if readRequest(bufio.NewReader(c)) == nil {
				_, _ = io.WriteString(c, answer)
			}
		})
		d := opened(t, &Source{URL: url, Lookup: url + "/{id}"})
		if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || !errors.Is(err, directory.ErrUnclear) {
			t.Errorf("%.60q: %t, %v", answer, ok, err)
		}
	}
}

// listen is an endpoint that serves each connection so and then closes it.
func listen(t *testing.T, serve func(net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				serve(c)
				_ = c.Close()
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// readRequest reads all of a request: what is left unread would reset the connection.
func readRequest(from *bufio.Reader) error {
	r, err := http.ReadRequest(from)
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return err
}

const annsAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"id\":\"u-1\"}"

// An endpoint may end a kept connection at any time, also while a request is on its way. On a new one it answers.
func TestKeptConnectionThatEndsIsReplaced(t *testing.T) {
	var connections atomic.Int32
	url := listen(t, func(c net.Conn) {
		connections.Add(1)
		from := bufio.NewReader(c)
		if readRequest(from) == nil {
			_, _ = io.WriteString(c, annsAnswer)
			_ = readRequest(from)
		}
	})
	d := opened(t, &Source{URL: url, Lookup: url + "/{id}"})
	for range 20 {
		if u, ok, err := d.Authenticate(t.Context(), "ann", "secret"); !ok || err != nil || u.ID != "u-1" {
			t.Fatalf("%+v, %t, %v", u, ok, err)
		}
	}
	if n := connections.Load(); n != 20 {
		t.Errorf("%d connections", n)
	}
}

// Whoever can sign in must not get guesses that are not counted from the connection that the endpoint keeps after that.
func TestWrongPasswordsThatEndAKeptConnectionAreUnclear(t *testing.T) {
	url := listen(t, func(c net.Conn) {
		for from := bufio.NewReader(c); ; {
			r, err := http.ReadRequest(from)
			if err != nil || r.FormValue("password") != "secret" {
				return
			}
			_, _ = io.WriteString(c, annsAnswer)
		}
	})
	d := opened(t, &Source{URL: url, Lookup: url + "/{id}"})
	for range 5 {
		if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); !ok || err != nil {
			t.Fatalf("%t, %v", ok, err)
		}
		if _, ok, err := d.Authenticate(t.Context(), "ann", "wrong"); ok || !errors.Is(err, directory.ErrUnclear) {
			t.Errorf("%t, %v", ok, err)
		}
	}
}

// An endpoint that cannot be reached has heard no password.
func TestOutageIsNotUnclear(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	untrusted := httptest.NewUnstartedServer(nil)
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	for name, url := range map[string]string{"refused": "http://" + l.Addr().String(), "certificate": untrusted.URL} {
		d := opened(t, &Source{URL: url, Lookup: url + "/{id}"})
		if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil || errors.Is(err, directory.ErrUnclear) {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
}

// It may go away between two sign-ins.
func TestOutageAfterASignInIsNotUnclear(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id":"u-1"}`) }))
	t.Cleanup(s.Close)
	d := opened(t, &Source{URL: s.URL, Lookup: s.URL + "/{id}"})
	if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	s.Close()
	if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil || errors.Is(err, directory.ErrUnclear) {
		t.Errorf("%t, %v", ok, err)
	}
}

// Over HTTP/2, too.
func TestAnswersOverHTTP2WithoutAReadableHeaderAreUnclear(t *testing.T) {
	for name, answer := range map[string]func(f *http2.Framer, stream uint32) error{
		"control character": fields(":status", "401", "x-reason", "wrong\x01"),
		"capital letter":    fields(":status", "401", "X-Reason", "wrong"),
		"no status":         fields("x-reason", "wrong"),
		"reset":             func(f *http2.Framer, stream uint32) error { return f.WriteRSTStream(stream, http2.ErrCodeInternal) },
		"end":               func(*http2.Framer, uint32) error { return io.EOF },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(nil)
			s.TLS = &tls.Config{NextProtos: []string{"h2"}}
			s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
				"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) { serveFrames(conn, answer) },
			}
			s.StartTLS()
			t.Cleanup(s.Close)
			ca := filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
				t.Fatal(err)
			}
			d := opened(t, &Source{URL: s.URL, Lookup: s.URL + "/{id}", CA: ca})
			if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || !errors.Is(err, directory.ErrUnclear) {
				t.Errorf("%t, %v", ok, err)
			}
		})
	}
}

// fields answers with these header fields.
func fields(pairs ...string) func(f *http2.Framer, stream uint32) error {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for i := 0; i < len(pairs); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return func(f *http2.Framer, stream uint32) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
	}
}

// serveFrames answers all requests of a connection, each when it has all of it.
func serveFrames(c net.Conn, answer func(f *http2.Framer, stream uint32) error) {
	defer func() { _ = c.Close() }()
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	err := f.WriteSettings()
	for err == nil {
		var frame http2.Frame
		if frame, err = f.ReadFrame(); err == nil && frame.Header().Type == http2.FrameData && frame.Header().Flags.Has(http2.FlagDataEndStream) {
			err = answer(f, frame.Header().StreamID)
		}
	}
}
