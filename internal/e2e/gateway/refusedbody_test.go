package gateway

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Whoever is refused without a look at the body does not keep the connection by sending the
// body slowly: net/http reads what is left of it before it sends the answer.
func TestSlowBodyOfARefusedRequestTimesOut(t *testing.T) { // N04
	g := startApart(t, strings.Replace(site, "	reverse_proxy $UPSTREAM\n", `	route {
		gatehouse_health
		reverse_proxy $UPSTREAM
	}
`, 1), "$GUARD", "public GET,POST,PUT /ready /thing", "$LIMIT", "by row {http.request.header.X-Row} 1 1h")
	harness.Wire(t, g.API, "PUT /thing", "X-Row: 1") // uses the limit up
	access, _ := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).JSON(t)["access_token"].(string)
	bearer := "Authorization: Bearer " + access
	t.Parallel()
	var wg sync.WaitGroup
	for _, c := range []struct {
		line, header string
		status       int
	}{
		{"POST /read", "X-A: 1", http.StatusUnauthorized},
		{"POST /read", "Authorization: Bearer x", http.StatusUnauthorized},
		{"POST /read", bearer, http.StatusForbidden},
		{"POST /else", "X-A: 1", http.StatusForbidden},
		{"GET /read//x", "X-A: 1", http.StatusBadRequest},
		{"TRACE /read", "X-A: 1", http.StatusMethodNotAllowed},
		{"PUT /thing", "X-Row: 1", http.StatusTooManyRequests},
		{"POST /ready", "X-A: 1", http.StatusMethodNotAllowed},
		{"GET /.well-known/oauth-protected-resource", "X-A: 1", http.StatusOK},
	} {
		for _, framing := range []string{"Content-Length: 60000", "Transfer-Encoding: chunked", "Content-Length: 60000\r\nExpect: 100-continue"} {
			wg.Go(func() {
				method, path, _ := strings.Cut(c.line, " ")
				p, took, err := trickle(g.API, method, path, c.header+"\r\n"+framing)
				if err != nil || took > bodyTime+3*time.Second || p.Status != c.status {
					t.Errorf("%s %s: %d after %v: %v\n%.300s", c.line, framing, p.Status, took, err, p.Body)
				}
			})
		}
	}
	wg.Wait()
}

// A client that asks before it sends the body has its refusal at once, not after the time for bodies.
func TestRefusalComesWhileTheBodyIsWithheld(t *testing.T) { // RFC 9110 section 10.1.1
	g, _ := start(t)
	access, _ := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).JSON(t)["access_token"].(string)
	for _, c := range []struct {
		site, line, header string
		status             int
	}{
		{g.API, "POST /read", "X-A: 1", http.StatusUnauthorized},
		{g.API, "POST /read", "Authorization: Bearer " + access, http.StatusForbidden},
		{g.ID, "PUT /token", "X-A: 1", http.StatusMethodNotAllowed},
		{g.ID, "POST /else", "X-A: 1", http.StatusNotFound},
		{g.ID, "POST /token", "Content-Type: application/json", http.StatusUnsupportedMediaType},
	} {
		for _, framing := range []string{"Content-Length: 2", "Content-Length: 2000000", "Transfer-Encoding: chunked"} {
			conn := harness.Dial(t, c.site)
			begun := time.Now()
			_, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nExpect: 100-continue\r\n%s\r\n%s\r\n\r\n",
				c.line, strings.TrimPrefix(c.site, "http://"), c.header, framing)
			harness.FailOn(t, err)
			p := harness.ReadAnswer(t, bufio.NewReader(conn), http.MethodPost)
			if took := time.Since(begun); p.Status != c.status || took > bodyTime/2 {
				t.Errorf("%s %s: %d after %v, %v", c.line, framing, p.Status, took, p.Header)
			}
		}
	}
}
