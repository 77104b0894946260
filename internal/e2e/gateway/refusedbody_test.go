package gateway

import (
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
