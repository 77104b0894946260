package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// With `enable_full_duplex` net/http does not read the rest of a body before it answers, and takes what comes too late for
// the next request. So what is answered without its body ends the connection.
func TestFullDuplexRefusalClosesTheConnection(t *testing.T) { // N18
	g := startApart(t, strings.Replace(site, "auto_https off", "auto_https off\n\tservers {\n\t\tenable_full_duplex\n\t}", 1),
		"$GUARD", "public GET,POST,PUT /thing", "$LIMIT", "by row {http.request.header.X-Row} 1 1h")
	harness.Wire(t, g.API, "PUT /thing", "X-Row: 1") // uses the limit up
	t.Parallel()
	var all sync.WaitGroup
	for _, c := range []struct {
		base, line, header string
		status             int
	}{
		{g.API, "POST /read", "X-A: 1", http.StatusUnauthorized},
		{g.API, "GET /read//x", "X-A: 1", http.StatusBadRequest},
		{g.API, "PUT /thing", "X-Row: 1", http.StatusTooManyRequests},
		{g.ID, "POST /token", "Content-Type: text/plain", http.StatusUnsupportedMediaType},
		{g.ID, "DELETE /token", "X-A: 1", http.StatusMethodNotAllowed},
		{g.ID, "POST /nothing", "X-A: 1", http.StatusNotFound},
		{g.ID, "GET /.well-known/jwks.json", "X-A: 1", http.StatusOK},
	} {
		for _, framing := range []string{"Content-Length: 60000\r\n\r\nfirst", "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"} {
			conn := harness.Dial(t, c.base)
			_, _ = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\n%s\r\n%s", c.line, strings.TrimPrefix(c.base, "http://"), c.header, framing)
			all.Go(func() { // each waits ten seconds for the rest of its body
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Errorf("%s: %v", c.line, err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				if res.StatusCode != c.status || !res.Close {
					t.Errorf("%s, %.17s: %d, closed: %v", c.line, framing, res.StatusCode, res.Close)
				}
			})
		}
	}
	all.Wait()
}
