package httpx

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// drip gives its text a byte at a time.
type drip struct {
	text  *bytes.Reader
	pause time.Duration
}

func (d drip) Read(p []byte) (int, error) {
	time.Sleep(d.pause)
	return d.text.Read(p[:1])
}

func TestSlowBodyTimesOut(t *testing.T) { // N04
	const within = 200 * time.Millisecond
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			var seen []error // of the handler's reads and of its context
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := LimitBody(w, r, 100, within, false); err != nil || r.Proto != protocol {
					t.Errorf("%s: %v", r.Proto, err)
				}
				body, err := ReadBody(r)
				if err == nil && string(body) == "whole" {
					time.Sleep(2 * within) // what it does afterwards may take longer
					err = r.Context().Err()
				}
				seen = append(seen, err)
				if refused := (*FormError)(nil); errors.As(err, &refused) {
					w.WriteHeader(refused.Status)
				}
			}))
			server.EnableHTTP2 = protocol == "HTTP/2.0"
			server.StartTLS()
			defer server.Close()
			client := server.Client()
			post := func(body io.Reader) int {
				res, err := client.Post(server.URL, "text/plain", body)
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				return res.StatusCode
			}
			for range 2 { // over one connection
				if got := post(strings.NewReader("whole")); got != http.StatusOK || seen[len(seen)-1] != nil {
					t.Errorf("a body in time: %d, %v", got, seen[len(seen)-1])
				}
			}
			began := time.Now()
			got := post(drip{bytes.NewReader(make([]byte, 90)), within / 10})
			if took := time.Since(began); got != http.StatusRequestTimeout || took < within || took > 5*within {
				t.Errorf("a slow body: %d after %v", got, took)
			}
			if got := post(bytes.NewReader(make([]byte, 101))); got != http.StatusRequestEntityTooLarge {
				t.Errorf("a large body: %d", got)
			}
			if got := post(bytes.NewReader(make([]byte, 100))); got != http.StatusOK {
				t.Errorf("as large as may be: %d", got)
			}
		})
	}
}

// Over HTTP/2 a header may announce an empty body and yet not end the stream.
func TestEmptyBodyWithoutAnEndTimesOut(t *testing.T) { // N04
	const within = 200 * time.Millisecond
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := LimitBody(w, r, 100, within, false); err != nil {
			t.Error(err)
		}
		_, err := ReadBody(r)
		if refused := (*FormError)(nil); errors.As(err, &refused) {
			w.WriteHeader(refused.Status)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	config := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone() //nolint:forcetypeassert // it is
	config.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", server.Listener.Addr().String(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	var header bytes.Buffer
	encoder := hpack.NewEncoder(&header)
	for name, value := range map[string]string{":method": "POST", ":scheme": "https", ":path": "/", ":authority": "localhost"} {
		_ = encoder.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	_ = encoder.WriteField(hpack.HeaderField{Name: "content-length", Value: "0"})
	_, _ = io.WriteString(conn, http2.ClientPreface)
	frames := http2.NewFramer(conn, conn)
	frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = frames.WriteSettings()
	_ = frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header.Bytes(), EndHeaders: true})
	for {
		frame, err := frames.ReadFrame()
		if err != nil {
			t.Fatal("no answer:", err)
		}
		if answer, ok := frame.(*http2.MetaHeadersFrame); ok {
			if status := answer.PseudoValue("status"); status != "408" {
				t.Error(status)
			}
			return
		}
	}
}

func TestBodyIsLimitedBehindAWrappedResponseWriter(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("too much"))
	if err := LimitBody(struct{ http.ResponseWriter }{}, r, 3, time.Minute, false); !errors.Is(err, http.ErrNotSupported) {
		t.Errorf("%v", err)
	}
	if _, err := ReadBody(r); err == nil {
		t.Error("its size is not limited")
	}
	r = httptest.NewRequest(http.MethodGet, "/", nil)
	if err := LimitBody(struct{ http.ResponseWriter }{}, r, 3, time.Minute, false); err != nil {
		t.Errorf("a request without a body: %v", err)
	}
}
