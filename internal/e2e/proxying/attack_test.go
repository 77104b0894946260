package proxying

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// exchange sends the parts of a request with a pause between them, and returns the answer and its body.
func exchange(t *testing.T, site string, parts ...string) (*http.Response, string) {
	t.Helper()
	c := harness.Dial(t, site)
	in := bufio.NewReader(c)
	for i, p := range parts {
		if i > 0 {
			time.Sleep(100 * time.Millisecond)
		}
		_, _ = io.WriteString(c, p) // the answer may be there already
	}
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res, string(body)
}

// A body in chunks behind a GET is taken for the next request by a server that reads none, so an empty one is not sent.
func TestEmptyBodyOfUnknownLengthIsNotSent(t *testing.T) { // P01
	s := start(t, "", "")
	s.server.answerWith(func(r *http.Request, body string) string {
		seen := fmt.Sprintf("%v %d %q", r.TransferEncoding, r.ContentLength, body)
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(seen), seen)
	})
	for _, c := range [][3]string{
		{"GET", "0\r\n\r\n", `[] 0 ""`},
		{"DELETE", "0\r\n\r\n", `[] 0 ""`},
		{"GET", "3\r\nabc\r\n0\r\n\r\n", `[chunked] -1 "abc"`},
		{"POST", "0\r\n\r\n", `[chunked] -1 ""`},
	} {
		_, got := exchange(t, s.API, fmt.Sprintf("%s / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n%s", c[0], host(t, s.API), c[1]))
		if got != c[2] {
			t.Errorf("%s with %q: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// The field Upgrade alone, which says nothing without Connection, does not switch off what api_proxy is strict about.
// With it the limits of time and size still hold.
func TestUpgradeDisablesNoLimit(t *testing.T) { // P02
	s := start(t, "", "response_header_timeout 1s\n\t\tmax_header 8KiB")
	for _, c := range []struct {
		name, fields, answer string
		status               int
	}{
		{"two lengths", "Upgrade: x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", http.StatusBadGateway},
		{"a large header", "Upgrade: x\r\n", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\nContent-Length: 0\r\n\r\n", http.StatusBadGateway},
		{"a large header of an upgrade", "Connection: upgrade\r\nUpgrade: x\r\n", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\nContent-Length: 0\r\n\r\n", http.StatusBadGateway},
		{"nothing", "Upgrade: x\r\n", "", http.StatusGatewayTimeout},
		{"nothing to an upgrade", "Connection: upgrade\r\nUpgrade: x\r\n", "", http.StatusGatewayTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.server.answerWith(func(*http.Request, string) string { return c.answer })
			within(t, 15*time.Second, "an answer", func() {
				res, _ := exchange(t, s.API, fmt.Sprintf("GET / HTTP/1.1\r\nHost: %s\r\n%s\r\n", host(t, s.API), c.fields))
				if res.StatusCode != c.status {
					t.Errorf("%d, want %d", res.StatusCode, c.status)
				}
			})
		})
	}
}

// A server that answers early and goes on reading gets the body without holes: while it is sent, net/http must not discard
// parts of it. What is left of it in the end is not the next request.
func TestBodyIsWholeAfterAnEarlyAnswer(t *testing.T) { // P03
	for _, duplex := range []string{"", "servers {\n\t\tenable_full_duplex\n\t}"} {
		s := start(t, duplex, "")
		got := make(chan string, 1)
		s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 20000\r\n\r\n%s", strings.Repeat("a", 9000))
			body, err := io.ReadAll(r.Body)
			got <- fmt.Sprint(len(body), err, strings.Count(string(body), "0123456789"))
			_, _ = io.WriteString(c, strings.Repeat("b", 11000))
		})
		const size = 300 << 10
		text := strings.Repeat("0123456789", size/10)
		half := len(text) / 2
		for framing, parts := range map[string][]string{
			fmt.Sprintf("Content-Length: %d", len(text)): {text[:half], text[half:]},
			"Transfer-Encoding: chunked":                 {fmt.Sprintf("%x\r\n%s\r\n", half, text[:half]), fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(text)-half, text[half:])},
		} {
			head := fmt.Sprintf("PUT / HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", host(t, s.API), framing)
			res, answer := exchange(t, s.API, head, parts[0], parts[1])
			seen := "nothing"
			select {
			case seen = <-got:
			case <-time.After(20 * time.Second):
			}
			if seen != fmt.Sprint(len(text), nil, len(text)/10) || len(answer) != 20000 || !res.Close {
				t.Errorf("%s: the server got %s of %d, the client %d bytes, closed: %v", framing, seen, len(text), len(answer), res.Close)
			}
		}
	}
}

// What is left of a body after an early answer is never a request, and a server that breaks off or cannot be reached is 502
// to a client that is still there.
func TestBodyRemainderIsNotParsedAsARequest(t *testing.T) { // P04
	for _, duplex := range []string{"", "servers {\n\t\tenable_full_duplex\n\t}"} {
		s := start(t, duplex, "")
		inside := fmt.Sprintf("GET /inside HTTP/1.1\r\nHost: %s\r\n\r\n", host(t, s.API))
		try := func(name string, want int) {
			for _, framing := range []string{"Content-Length: 100000\r\n\r\nfirst", "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"} {
				c := harness.Dial(t, s.API)
				_, _ = fmt.Fprintf(c, "PUT / HTTP/1.1\r\nHost: %s\r\n%s", host(t, s.API), framing)
				time.Sleep(100 * time.Millisecond)
				_, _ = io.WriteString(c, inside)
				all, _ := io.ReadAll(c) // a reset may end it
				if text := string(all); strings.Count(text, "HTTP/1.1 ") != 1 || !strings.HasPrefix(text, fmt.Sprintf("HTTP/1.1 %d ", want)) {
					t.Errorf("%s, %.14s: %.300q", name, framing, text)
				}
			}
		}
		for name, answer := range map[string]string{
			"early":      "HTTP/1.1 409 Conflict\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno",
			"broken off": "",
			"garbage":    "no HTTP\r\n\r\n",
		} {
			s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				if r.URL.Path == "/inside" {
					t.Errorf("%s: a part of the body is a request", name)
				}
				_, _ = io.WriteString(c, answer)
			})
			want := http.StatusBadGateway
			if name == "early" {
				want = http.StatusConflict
			}
			try(name, want)
		}
		_ = s.server.Close()
		// Nothing of the body was read. Without full duplex net/http reads the rest of it, so as much as it says must come.
		if duplex != "" {
			try("unreachable", http.StatusBadGateway)
		}
	}
}

// A header may have thousands of fields and Connection may name thousands, and so may Via: comparing each with each would
// cost a second for every few kilobytes that somebody sends.
func TestConnectionHeaderIsProcessedInLinearTime(t *testing.T) { // P05
	const size = 400 << 10
	s := start(t, "servers {\n\t\tmax_header_size 2MiB\n\t}", "max_header 2MiB")
	var fields strings.Builder
	for i := 0; fields.Len() < size; i++ {
		fmt.Fprintf(&fields, "a%x:\r\n", i)
	}
	many := fields.String() + "Connection: keep-alive,a1" + strings.Repeat(",", size) + "\r\nConnection: a2\r\n"
	s.server.answerWith(func(r *http.Request, _ string) string {
		text := fmt.Sprint(len(r.Header["A0"]), len(r.Header["A1"]), len(r.Header["A2"]), len(r.Header["A3"]), strings.Count(r.Header.Get("Via"), "a, "))
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s", len(text), many, text)
	})
	vias := 2 * size / len("Via: a\r\n")
	res, seen := exchange(t, s.API, fmt.Sprintf("GET / HTTP/1.1\r\nHost: %s\r\n%s%s\r\n", host(t, s.API), many, strings.Repeat("Via: a\r\n", vias)))
	if want := fmt.Sprint(1, 0, 0, 1, vias); seen != want {
		t.Errorf("the server was sent %s, want %s", seen, want)
	}
	if got, want := fmt.Sprint(len(res.Header["A0"]), len(res.Header["A1"]), len(res.Header["A2"]), len(res.Header["A3"])), "1 0 0 1"; got != want {
		t.Errorf("the client was sent %s, want %s", got, want)
	}
}

// A server that answers and closes its connection while the body still comes ends what is sent to it. The client is told
// at once too, not when it has sent what nobody reads any more.
func TestClientIsAnsweredWhenItsBodyCannotBeSent(t *testing.T) { // P06
	for _, duplex := range []string{"", "servers {\n\t\tenable_full_duplex\n\t}"} {
		s := start(t, duplex, "")
		for answer, want := range map[string]int{
			"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno": http.StatusRequestEntityTooLarge,
			"no HTTP\r\n\r\n": http.StatusBadGateway,
		} {
			s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
				if _, err := http.ReadRequest(in); err == nil {
					_, _ = io.WriteString(c, answer)
				}
			})
			for _, framing := range []string{"Content-Length: 100000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"} {
				c := harness.Dial(t, s.API)
				_, _ = fmt.Fprintf(c, "PUT / HTTP/1.1\r\nHost: %s\r\n%s", host(t, s.API), framing)
				for range 50 { // the server takes none of it
					_, _ = io.WriteString(c, "1\r\na\r\n")
					time.Sleep(2 * time.Millisecond)
				}
				res, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Errorf("%d %.10s: %v", want, framing, err)
				} else if res.StatusCode != want || !res.Close {
					t.Errorf("%d %.10s: %d, closed: %t", want, framing, res.StatusCode, res.Close)
				}
			}
		}
	}
}

// P04 behind handlers that decide which header fields pass: they leave it to the proxy to close the connection.
func TestBodyRemainderIsNoRequestBehindOtherHandlers(t *testing.T) { // P07
	for name, front := range map[string]string{"api_rest": "api_rest {\n\t\tresource things\n\t}", "api_errors": "api_errors", "encode": "encode"} {
		for _, duplex := range []string{"", "servers {\n\t\tenable_full_duplex\n\t}"} {
			text := strings.Replace(caddyfile, "\tapi_proxy $SERVER {", "\troute {\n\t"+front+"\n\tapi_proxy $SERVER {", 1)
			text = strings.Replace(text, "$WORDS\n\t}", "$WORDS\n\t}\n\t}", 1)
			s := &stand{server: newServer(t, "tcp", "127.0.0.1:0")}
			s.Gateway = harness.Start(t, text, "$SERVER", s.server.Addr().String(), "$GLOBAL", duplex, "$WORDS", "")
			for _, answer := range []string{
				"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"a\": 1}",
				"HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"a\": 1}",
			} {
				s.server.handleWith(func(c net.Conn, in *bufio.Reader) {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					if r.Method == http.MethodGet {
						t.Errorf("%s: a part of the body is a request", name)
					}
					_, _ = io.WriteString(c, answer)
					_, _ = io.Copy(io.Discard, in)
				})
				inside := fmt.Sprintf("GET /things HTTP/1.1\r\nHost: %s\r\n\r\n", host(t, s.API))
				for _, framing := range []string{"Content-Length: 100000\r\n\r\nfirst", "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"} {
					c := harness.Dial(t, s.API)
					_, _ = fmt.Fprintf(c, "POST /things HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s", host(t, s.API), framing)
					in := bufio.NewReader(c)
					res, err := http.ReadResponse(in, nil)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if _, err := io.ReadAll(res.Body); err != nil || !res.Close {
						t.Errorf("%s, %d, %.14s: closed: %t %v", name, res.StatusCode, framing, res.Close, err)
					}
					_, _ = io.WriteString(c, inside)
					if more, _ := io.ReadAll(in); len(more) > 0 {
						t.Errorf("%s, %d, %.14s: another answer: %.300q", name, res.StatusCode, framing, more)
					}
				}
			}
		}
	}
}
