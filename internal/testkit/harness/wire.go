package harness

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// Dial connects to a site of the gateway. The connection has a deadline of 20 seconds.
func Dial(t testing.TB, site string) net.Conn {
	t.Helper()
	u, err := url.Parse(site)
	FailOn(t, err)
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", u.Port()))
	FailOn(t, err)
	t.Cleanup(func() { _ = c.Close() })
	FailOn(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	return c
}

// Wire sends a request without a body exactly as given, where net/http would normalize it. It adds Host if that is
// missing.
func Wire(t testing.TB, site, requestLine string, header ...string) Page {
	t.Helper()
	u, err := url.Parse(site)
	FailOn(t, err)
	if !slices.ContainsFunc(header, func(h string) bool { return strings.HasPrefix(strings.ToLower(h), "host:") }) {
		header = append([]string{"Host: " + u.Host}, header...)
	}
	c := Dial(t, site)
	if _, err := fmt.Fprintf(c, "%s HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n", requestLine, strings.Join(header, "\r\n")); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(requestLine, " ")
	if method == http.MethodConnect {
		method = http.MethodGet // its answer has no body to ReadResponse when it is 2xx
	}
	return ReadAnswer(t, bufio.NewReader(c), method)
}

// ReadAnswer reads the response to a request on a connection of Dial.
func ReadAnswer(t testing.TB, from *bufio.Reader, method string) Page {
	t.Helper()
	res, err := http.ReadResponse(from, &http.Request{Method: method})
	FailOn(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	FailOn(t, err)
	return Page{Status: res.StatusCode, Header: res.Header, Body: string(body)}
}
