package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// An API that answers before it has read a body, and closes, must not make requests of what is
// left of the body: behind a balancer those would be answered to somebody else.
func TestUnreadBodyIsNotParsedAsARequest(t *testing.T) { // N17
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go hasty(l)
	g := startApart(t, strings.Replace(site, "reverse_proxy $UPSTREAM", "reverse_proxy "+l.Addr().String(), 1), "$GUARD", "public GET /inside", "$LIMIT", "")
	access, _ := g.Token(t, web, url.Values{"grant_type": {"client_credentials"}, "scope": {"write"}}).JSON(t)["access_token"].(string)
	host := strings.TrimPrefix(g.API, "http://")
	inside := "GET /inside HTTP/1.1\r\nHost: " + host + "\r\n\r\n"
	body := strings.Repeat(inside, 1<<20/len(inside))
	var conflicts atomic.Int64
	var wg sync.WaitGroup
	turns := make(chan struct{}, 2) // more at a time hide the race
	for range 24 {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			c, err := net.Dial("tcp", strings.Replace(host, "localhost", "127.0.0.1", 1))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			// The request behind the body ends the connection if the answer to the first has not.
			go func() {
				_, _ = fmt.Fprintf(c, "PUT /read HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%sGET /last HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
					host, access, len(body), body, host)
			}()
			all, _ := io.ReadAll(c) // a reset may end it
			answers := regexp.MustCompile(`HTTP/1\.1 ([0-9]{3})`).FindAllStringSubmatch(string(all), -1)
			for i, a := range answers {
				if i == 0 && a[1] == "409" {
					conflicts.Add(1)
				} else if a[1] != "403" { // that of the last request
					t.Errorf("a part of the body was answered: %q", answers)
				}
			}
		})
	}
	wg.Wait()
	if conflicts.Load() == 0 {
		t.Error("the API was never asked")
	}
}

// hasty answers requests when it has their header.
func hasty(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = c.Close() }()
			var head []byte
			for b := make([]byte, 4096); !strings.Contains(string(head), "\r\n\r\n"); {
				n, err := c.Read(b)
				if head = append(head, b[:n]...); err != nil {
					return
				}
			}
			_, _ = io.WriteString(c, fmt.Sprintf("HTTP/1.1 %d Conflict\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno", http.StatusConflict))
			time.Sleep(20 * time.Millisecond) // the answer is read before the reset
		}()
	}
}
