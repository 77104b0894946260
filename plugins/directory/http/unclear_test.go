package http

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

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
				_, _ = http.ReadRequest(bufio.NewReader(c))
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
