package http1_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/http1"
)

// serve starts a server that handles each connection with f, and returns a transport to it.
func serve(t *testing.T, f func(n int, c net.Conn, in *bufio.Reader)) *http1.Transport {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				f(n, c, bufio.NewReader(c))
			}()
		}
	}()
	tr := &http1.Transport{
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		},
		MaxIdle: 4, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	t.Cleanup(tr.Close)
	return tr
}

// readRequest reads a request and its body.
func readRequest(in *bufio.Reader) (string, error) {
	r, err := http.ReadRequest(in)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(r.Body)
	return fmt.Sprintf("%s %s %s %q %v", r.Method, r.RequestURI, r.Host, body, r.Trailer), err
}

// answers handles connections with one text for each request.
func answers(text string) func(int, net.Conn, *bufio.Reader) {
	return func(_ int, c net.Conn, in *bufio.Reader) {
		for {
			if _, err := readRequest(in); err != nil {
				return
			}
			_, _ = io.WriteString(c, text)
		}
	}
}

func get() *http1.Request {
	return &http1.Request{Method: http.MethodGet, Path: "/", Host: "api.test", Header: http.Header{}}
}

// fetch sends a request and returns the answer as text: status, fields, body and trailer.
func fetch(t *testing.T, tr *http1.Transport, q *http1.Request) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	res, err := tr.RoundTrip(ctx, q, func(int, http.Header) {})
	if err != nil {
		return "", err
	}
	defer res.Close()
	h := make(http.Header)
	res.CopyHeader(h)
	var body bytes.Buffer
	if err := res.WriteBody(&body, nil); err != nil {
		return "", err
	}
	res.AddTrailer(h)
	return fmt.Sprint(res.Status, " ", h, " ", body.String()), nil
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ method, answer, want string }{
		"length":              {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: 1\r\na: 2\r\n\r\nhi", "200 map[A:[1 2] Content-Length:[2]] hi"},
		"no reason":           {"GET", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "200 map[Content-Length:[0]] "},
		"same length twice":   {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "200 map[Content-Length:[2]] hi"},
		"chunks":              {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0B\r\n there, you\r\n0\r\n\r\n", "200 map[] hi there, you"},
		"trailer":             {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nTrailer: Sum\r\n\r\n2\r\nhi\r\n0\r\nSum: 7\r\nContent-Length: 9\r\n\r\n", "200 map[Trailer:Sum:[7]] hi"},
		"until the end":       {"GET", "HTTP/1.0 200 OK\r\n\r\nhi", "200 map[] hi"},
		"HEAD":                {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "200 map[Content-Length:[9]] "},
		"204":                 {"GET", "HTTP/1.1 204 No Content\r\n\r\n", "204 map[] "},
		"204 with a length":   {"GET", "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", "204 map[] "},
		"304":                 {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\nEtag: \"a\"\r\n\r\n", "304 map[Content-Length:[9] Etag:[\"a\"]] "},
		"hop by hop":          {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x-own, close\r\nX-Own: 1\r\nKeep-Alive: 5\r\nX-Its: 2\r\n\r\n", "200 map[Content-Length:[0] X-Its:[2]] "},
		"tabs around a value": {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA:\t 1 \t\r\n\r\n", "200 map[A:[1] Content-Length:[0]] "},
		"informational":       {"GET", "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 map[Content-Length:[2]] hi"},
		"a long head":         {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: " + strings.Repeat("x", 9000) + "\r\n\r\nhi", "200 map[A:[" + strings.Repeat("x", 9000) + "] Content-Length:[2]] hi"},
	} {
		t.Run(name, func(t *testing.T) {
			handle := answers(c.answer)
			if strings.HasPrefix(c.answer, "HTTP/1.0") {
				handle = func(_ int, conn net.Conn, in *bufio.Reader) {
					_, _ = readRequest(in)
					_, _ = io.WriteString(conn, c.answer)
				}
			}
			tr, q := serve(t, handle), get()
			q.Method = c.method
			for range 2 {
				if got, err := fetch(t, tr, q); err != nil || got != c.want {
					t.Fatalf("%s, %v; expected %s", got, err, c.want)
				}
			}
		})
	}
}

func TestMalformedAnswers(t *testing.T) {
	for name, answer := range map[string]string{
		"not HTTP":              "SSH-2.0-OpenSSH_9.2\r\n\r\n",
		"another version":       "HTTP/2.0 200 OK\r\n\r\n",
		"status":                "HTTP/1.1 2O0 OK\r\n\r\n",
		"long status":           "HTTP/1.1 2000 OK\r\n\r\n",
		"status below 100":      "HTTP/1.1 099 OK\r\n\r\n",
		"bare LF":               "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
		"bare LF at the end":    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\n",
		"bare CR":               "HTTP/1.1 200 OK\r\nA: 1\rB: 2\r\nContent-Length: 0\r\n\r\n",
		"NUL":                   "HTTP/1.1 200 OK\r\nA: \x00\r\nContent-Length: 0\r\n\r\n",
		"space before colon":    "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
		"folded line":           "HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\nContent-Length: 0\r\n\r\n",
		"no colon":              "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
		"no name":               "HTTP/1.1 200 OK\r\n: 1\r\n\r\n",
		"two lengths":           "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
		"list of lengths":       "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi",
		"signed length":         "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi",
		"empty length":          "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhi",
		"length and chunks":     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"another coding":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"chunked twice":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunks of HTTP/1.0":    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunk size":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n0\r\n\r\n",
		"signed chunk size":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\nhi\r\n0\r\n\r\n",
		"huge chunk size":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8000000000000002\r\nhi\r\n0\r\n\r\n",
		"chunk ends with LF":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\n0\r\n\r\n",
		"chunk line with LF":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n",
		"chunk is longer":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi!\r\n0\r\n\r\n",
		"trailer":               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nno colon\r\n\r\n",
		"unasked switch":        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"informational without": strings.Repeat("HTTP/1.1 103 Early\r\n\r\n", 100),
		"fields for ever":       "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: 1\r\n", 20_000) + "\r\n",
		"one long field":        "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("1", 100_000) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			tr := serve(t, answers(answer))
			if got, err := fetch(t, tr, get()); !errors.Is(err, http1.ErrMalformed) {
				t.Fatalf("%s, %v", got, err)
			}
		})
	}
}

func TestTruncatedAnswers(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n",
		"",
	} {
		tr := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
			_, _ = readRequest(in)
			_, _ = io.WriteString(c, answer)
		})
		if got, err := fetch(t, tr, get()); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %s, %v", answer, got, err)
		}
	}
}

func TestRequestsAreWritten(t *testing.T) {
	got := make(chan string, 1)
	tr := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		for {
			text, err := readRequest(in)
			if err != nil {
				return
			}
			got <- text
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	for name, c := range map[string]struct {
		change func(q *http1.Request)
		want   string
	}{
		"plain":  {func(q *http1.Request) { q.Path, q.Query = "/a%2Fb", "c=d" }, `GET /a%2Fb?c=d api.test "" map[]`},
		"empty":  {func(q *http1.Request) { q.Method = "POST" }, `POST / api.test "" map[]`},
		"length": {func(q *http1.Request) { q.Method, q.Body, q.Length = "PUT", strings.NewReader("hi"), 2 }, `PUT / api.test "hi" map[]`},
		"chunks": {func(q *http1.Request) { q.Method, q.Body, q.Length = "PUT", strings.NewReader("hi"), -1 }, `PUT / api.test "hi" map[]`},
		"trailer": {func(q *http1.Request) {
			q.Method, q.Body, q.Length, q.Trailer = "PUT", strings.NewReader("hi"), 2, http.Header{"Sum": {"7"}}
		}, `PUT / api.test "hi" map[Sum:[7]]`},
	} {
		t.Run(name, func(t *testing.T) {
			q := get()
			c.change(q)
			if _, err := fetch(t, tr, q); err != nil {
				t.Fatal(err)
			}
			if text := <-got; text != c.want {
				t.Errorf("%s, expected %s", text, c.want)
			}
		})
	}
}

func TestUnsendableRequestsAreRefused(t *testing.T) {
	tr := serve(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	for name, change := range map[string]func(q *http1.Request){
		"method":      func(q *http1.Request) { q.Method = "GET /x HTTP/1.1\r\nX:" },
		"CONNECT":     func(q *http1.Request) { q.Method = http.MethodConnect },
		"path":        func(q *http1.Request) { q.Path = "/ HTTP/1.1\r\nX: 1" },
		"query":       func(q *http1.Request) { q.Query = "a b" },
		"host":        func(q *http1.Request) { q.Host = "a\r\nX: 1" },
		"field value": func(q *http1.Request) { q.Header["A"] = []string{"1\r\nB: 2"} },
		"field name":  func(q *http1.Request) { q.Header["A: 1\r\nB"] = []string{"2"} },
		"set":         func(q *http1.Request) { q.Set = []http1.Field{{Name: "A", Value: "1\n2"}} },
		"too short":   func(q *http1.Request) { q.Method, q.Body, q.Length = "PUT", strings.NewReader("hi"), 3 },
		"too long":    func(q *http1.Request) { q.Method, q.Body, q.Length = "PUT", strings.NewReader("hi"), 1 },
	} {
		t.Run(name, func(t *testing.T) {
			q := get()
			change(q)
			if got, err := fetch(t, tr, q); err == nil {
				t.Error(got)
			}
		})
	}
}

func TestConnectionClosedByTheServerIsNotReused(t *testing.T) {
	for name, last := range map[string]string{"closed": "", "something unasked": "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan bool)
			tr := serve(t, func(n int, c net.Conn, in *bufio.Reader) {
				if _, err := readRequest(in); err != nil {
					return
				}
				_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d", n)
				if n == 0 {
					<-closed
					_, _ = io.WriteString(c, last)
					_ = c.Close()
					closed <- true
				}
			})
			q := get()
			q.Method = http.MethodPost
			if got, err := fetch(t, tr, q); err != nil || !strings.HasSuffix(got, " 0") {
				t.Fatal(got, err)
			}
			closed <- true
			<-closed
			time.Sleep(10 * time.Millisecond) // for loopback to deliver it
			if got, err := fetch(t, tr, q); err != nil || !strings.HasSuffix(got, " 1") {
				t.Fatal(got, err)
			}
		})
	}
}

// A request that a kept connection loses is sent again only if nothing of an answer came and sending it twice does no harm.
func TestIdempotentRequestIsRetriedOnALostConnection(t *testing.T) {
	for _, c := range []struct {
		method, received string
		again            bool
	}{
		{"GET", "", true}, {"POST", "", false}, {"GET", "H", false}, {"GET", "HTTP/1.1 200 OK\r\n", false}, {"GET", "HTTP/1.1 103 Early Hints\r\n\r\n", false},
	} {
		tr := serve(t, func(n int, conn net.Conn, in *bufio.Reader) {
			for i := 0; ; i++ {
				if _, err := readRequest(in); err != nil {
					return
				}
				if n == 0 && i == 1 {
					_, _ = io.WriteString(conn, c.received)
					return
				}
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d", n)
			}
		})
		q := get()
		q.Method = c.method
		if _, err := fetch(t, tr, q); err != nil {
			t.Fatal(err)
		}
		if got, err := fetch(t, tr, q); (err == nil) != c.again {
			t.Errorf("%s that received %q: %q, %v", c.method, c.received, got, err)
		}
	}
}

func TestAnswerBeforeTheEndOfTheBody(t *testing.T) {
	reader, writer := io.Pipe()
	tr := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		_, _ = http.ReadRequest(in)
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
		_, _ = io.Copy(io.Discard, in)
	})
	q := get()
	q.Method, q.Body, q.Length = "PUT", reader, -1
	q.StopBody = func() { _ = writer.CloseWithError(errors.New("stopped")) }
	if got, err := fetch(t, tr, q); err != nil || got != "413 map[Content-Length:[2]] no" {
		t.Fatal(got, err)
	}
	if _, err := writer.Write([]byte("x")); err == nil {
		t.Error("the body is still read")
	}
}

func TestExpectContinue(t *testing.T) {
	for name, c := range map[string]struct{ first, want string }{
		"welcome": {"HTTP/1.1 100 Continue\r\n\r\n", "200"},
		"refused": {"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n", "417"},
		"silent":  {"", "200"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := serve(t, func(_ int, conn net.Conn, in *bufio.Reader) {
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.WriteString(conn, c.first)
					if c.want != "200" {
						continue
					}
					if body, err := io.ReadAll(r.Body); err != nil || string(body) != "hi" {
						return
					}
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			})
			read := false
			q := get()
			q.Method, q.Length, q.Header = "PUT", 2, http.Header{"Expect": {"100-continue"}}
			q.Body = readerFunc(func(p []byte) (int, error) { read = true; return copy(p, "hi"), io.EOF })
			if got, err := fetch(t, tr, q); err != nil || !strings.HasPrefix(got, c.want) || read != (c.want == "200") {
				t.Error(got, err, read)
			}
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestBodyErrorIsTheCause(t *testing.T) {
	tr := serve(t, func(_ int, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) })
	gone := errors.New("the client is gone")
	q := get()
	q.Method, q.Length, q.Body = "PUT", -1, readerFunc(func([]byte) (int, error) { return 0, gone })
	if _, err := fetch(t, tr, q); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func TestCancellationStopsTheRequest(t *testing.T) {
	for name, first := range map[string]string{"before the head": "", "in the body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"} {
		t.Run(name, func(t *testing.T) {
			tr := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
				_, _ = http.ReadRequest(in)
				_, _ = io.WriteString(c, first)
				_, _ = io.Copy(io.Discard, in)
			})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			res, err := tr.RoundTrip(ctx, get(), func(int, http.Header) {})
			if err == nil {
				err = res.WriteBody(io.Discard, nil)
				res.Close()
			}
			if err == nil || ctx.Err() == nil {
				t.Error(err, ctx.Err())
			}
		})
	}
}

func TestHeaderTimeoutStartsAfterTheBody(t *testing.T) {
	tr := serve(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	tr.HeaderTimeout = 100 * time.Millisecond
	for range 3 { // on one connection
		reader, writer := io.Pipe()
		go func() {
			for range 4 {
				time.Sleep(50 * time.Millisecond)
				_, _ = io.WriteString(writer, "hi")
			}
			_ = writer.Close()
		}()
		q := get()
		q.Method, q.Body, q.Length = "PUT", reader, -1
		if got, err := fetch(t, tr, q); err != nil || !strings.HasPrefix(got, "200") {
			t.Fatal(got, err)
		}
	}
	silent := serve(t, func(_ int, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) })
	silent.HeaderTimeout = 100 * time.Millisecond
	q := get()
	q.Method, q.Body, q.Length = "PUT", strings.NewReader("hi"), 2
	var timeout net.Error
	if _, err := fetch(t, silent, q); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
}

func TestTimeouts(t *testing.T) {
	for name, first := range map[string]string{"header": "", "body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"} {
		t.Run(name, func(t *testing.T) {
			tr := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
				_, _ = http.ReadRequest(in)
				_, _ = io.WriteString(c, first)
				_, _ = io.Copy(io.Discard, in)
			})
			tr.HeaderTimeout, tr.ReadTimeout = 50*time.Millisecond, 50*time.Millisecond
			_, err := fetch(t, tr, get())
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Error(err)
			}
		})
	}
}

// A client that leaves while a connection is being made says nothing of the server.
func TestCancelledDialIsNotAServerFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tr := &http1.Transport{Dial: func(ctx context.Context) (net.Conn, error) {
		cancel()
		return nil, &net.OpError{Op: "dial", Err: ctx.Err()}
	}}
	_, err := tr.RoundTrip(ctx, get(), nil)
	var unreached *http1.DialError
	if errors.As(err, &unreached) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Stopping the body of a client that is slow ends its context on Go's server. It is still the server
// that failed.
func TestServerFailsBeforeTheBodyIsSent(t *testing.T) {
	tr := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		_, _ = http.ReadRequest(in)
		_, _ = io.WriteString(c, "H")
	})
	ctx, cancel := context.WithCancel(t.Context())
	body, sender := io.Pipe()
	q := get()
	q.Method, q.Body, q.Length = http.MethodPut, body, 9
	q.StopBody = func() {
		cancel()
		_ = sender.CloseWithError(os.ErrDeadlineExceeded)
	}
	_, err := tr.RoundTrip(ctx, q, func(int, http.Header) {})
	var unread *http1.BodyError
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, &unread) {
		t.Error(err)
	}
}
