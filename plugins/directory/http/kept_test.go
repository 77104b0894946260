package http

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/gatehouse/gatehouse/module/directory"
)

// signInAtOnce signs one user in, eight at a time, always with the right password.
func signInAtOnce(t *testing.T, src *Source) {
	t.Helper()
	d := opened(t, src)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); !ok || err != nil {
					t.Errorf("%t, unclear: %t, %v", ok, errors.Is(err, directory.ErrUnclear), err)
				}
			}
		})
	}
	group.Wait()
}

// Under load, other sign-ins keep adding connections that the endpoint is about to end.
func TestEndOfKeptConnectionsFailsNoSignInUnderLoad(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"reset at the second request": func(c net.Conn) {
			from := bufio.NewReader(c)
			if readRequest(from) == nil {
				answerLate(c)
				_ = readRequest(from)
				_ = c.(*net.TCPConn).SetLinger(0)
			}
		},
		"closed 50 ms after an answer": func(c net.Conn) {
			for from := bufio.NewReader(c); readRequest(from) == nil; {
				answerLate(c)
				time.AfterFunc(50*time.Millisecond, func() { _ = c.Close() })
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := listen(t, serve)
			signInAtOnce(t, &Source{URL: url, Lookup: url + "/{id}"})
		})
	}
}

// answerLate answers after up to ten milliseconds, in which other requests end.
func answerLate(c net.Conn) {
	time.Sleep(rand.N(10 * time.Millisecond))
	_, _ = io.WriteString(c, annsAnswer)
}

// Over HTTP/2, requests share a connection, and another one may end it also before it has been used.
func TestEndOfSharedConnectionFailsNoSignIn(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.TLS = &tls.Config{NextProtos: []string{"h2"}}
	s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
			serveFrames(conn, func(f *http2.Framer, stream uint32) error {
				if stream > 1 { // the second request of the connection
					return io.EOF
				}
				time.Sleep(5 * time.Millisecond) // others come meanwhile
				return answerAnn(f, stream)
			})
		},
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	signInAtOnce(t, &Source{URL: s.URL, Lookup: s.URL + "/{id}", CA: ca})
}

func answerAnn(f *http2.Framer, stream uint32) error {
	var block bytes.Buffer
	if err := hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"}); err != nil {
		return err
	}
	err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
	return errors.Join(err, f.WriteData(stream, true, []byte(`{"id":"u-1"}`)))
}
