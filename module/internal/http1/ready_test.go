package http1_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestTransportFlushesBeforeWaiting(t *testing.T) {
	for name, parts := range map[string][]string{
		"length":                  {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhi", "ho"},
		"chunk":                   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi", "\r\n2\r\nho\r\n0\r\n\r\n"},
		"chunk and line":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", "2\r\nho\r\n0\r\n\r\n"},
		"chunk and size":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n2\r\n", "ho\r\n0\r\n\r\n"},
		"half a size":             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n2", "\r\nho\r\n0\r\n\r\n"},
		"last chunk, no end":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhiho\r\n0\r\n", "\r\n"},
		"last chunk, half an end": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhiho\r\n0\r\nA: 1\r\n", "\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			flushed := make(chan bool)
			tr := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
				_, _ = readRequest(in)
				_, _ = io.WriteString(c, parts[0])
				<-flushed
				_, _ = io.WriteString(c, parts[1])
				_, _ = io.Copy(io.Discard, in)
			})
			res, err := tr.RoundTrip(t.Context(), get(), func(int, http.Header) {})
			if err != nil {
				t.Fatal(err)
			}
			defer res.Close()
			var body written
			done := make(chan error, 1)
			go func() {
				var told bool
				done <- res.WriteBody(&body, func() error {
					if len(body) >= 2 && !told {
						told = true
						close(flushed)
					}
					return nil
				})
			}()
			select {
			case err := <-done:
				if err != nil || string(body) != "hiho" {
					t.Error(string(body), err)
				}
			case <-time.After(10 * time.Second):
				t.Error("it waits before it flushes")
			}
		})
	}
}

type written []byte

func (w *written) Write(p []byte) (int, error) { *w = append(*w, p...); return len(p), nil }
