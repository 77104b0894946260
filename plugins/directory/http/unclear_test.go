package http

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
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

// So may one whose header cannot be read. An endpoint that says nothing at all may be away.
func TestAnswersWithoutAReadableHeaderAreUnclear(t *testing.T) {
	for answer, unclear := range map[string]bool{
		"HTTP/1.1 401 Unauthorized\r\nContent-Length: two\r\n\r\n{}":                    true,
		"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}": true,
		"HTTP/1.1 302 Found\r\nLocation: /login?100%\x01\r\nContent-Length: 0\r\n\r\n":  true,
		"HTTP/1.1 302 Found\r\nLocation: /login/100%\r\nContent-Length: 0\r\n\r\n":      true,
		"HTTP/1.1 401 Unauthorized\r\nX: " + strings.Repeat("x", 128<<10) + "\r\n\r\n":  true,
		"wrong password\r\n": true,
		"":                   false,
	} {
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
				if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.Copy(io.Discard, r.Body) // what is left unread would reset the connection
				}
				_, _ = io.WriteString(c, answer)
				_ = c.Close()
			}
		}()
		d := opened(t, &Source{URL: "http://" + l.Addr().String(), Lookup: "http://" + l.Addr().String() + "/{id}"})
		if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil || errors.Is(err, directory.ErrUnclear) != unclear {
			t.Errorf("%.60q: %t, %v", answer, ok, err)
		}
	}
}

// Over HTTP/2, too.
func TestAnswersOverHTTP2WithoutAReadableHeaderAreUnclear(t *testing.T) {
	for name, c := range map[string]struct {
		answer  func(f *http2.Framer, stream uint32) error
		unclear bool
	}{
		"control character": {fields(":status", "401", "x-reason", "wrong\x01"), true},
		"capital letter":    {fields(":status", "401", "X-Reason", "wrong"), true},
		"no status":         {fields("x-reason", "wrong"), true},
		"reset":             {func(f *http2.Framer, stream uint32) error { return f.WriteRSTStream(stream, http2.ErrCodeInternal) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(nil)
			s.TLS = &tls.Config{NextProtos: []string{"h2"}}
			s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
				"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) { serveFrames(conn, c.answer) },
			}
			s.StartTLS()
			t.Cleanup(s.Close)
			ca := filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
				t.Fatal(err)
			}
			d := opened(t, &Source{URL: s.URL, Lookup: s.URL + "/{id}", CA: ca})
			if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil || errors.Is(err, directory.ErrUnclear) != c.unclear {
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

// serveFrames answers all requests of a connection.
func serveFrames(c net.Conn, answer func(f *http2.Framer, stream uint32) error) {
	defer func() { _ = c.Close() }()
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	err := f.WriteSettings()
	for err == nil {
		var frame http2.Frame
		if frame, err = f.ReadFrame(); err == nil && frame.Header().Type == http2.FrameHeaders {
			err = answer(f, frame.Header().StreamID)
		}
	}
}
