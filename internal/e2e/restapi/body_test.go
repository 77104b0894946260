package restapi

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// A body that says nothing of its length is held to max_body while it comes: whoever
// waited for its end would hold all of it.
func TestBodyOfUnknownLengthIsRefusedEarly(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "max_body": 100000, "resources": [
		{"path": "things", "batch": ["a"], "rename": {"a": "b"}}, {"path": "raw", "idempotency": true}]`)
	for _, c := range [][]string{
		{"POST", "/things"}, {"PUT", "/things/1"}, {"PATCH", "/things/1"}, {"PATCH", "/things"}, {"POST", "/raw", "Idempotency-Key: k"},
	} {
		to := harness.Dial(t, r.API)
		_ = to.SetDeadline(time.Now().Add(20 * time.Second))
		header := append([]string{"Host: " + strings.TrimPrefix(r.API, "http://"), "Authorization: Bearer " + r.token("writer"),
			"Content-Type: application/json", "Transfer-Encoding: chunked"}, c[2:]...)
		// Of what is not wanted any more net/http reads 256 KiB, so that the answer arrives.
		chunk := "1000\r\n" + strings.Repeat(" ", 0x1000) + "\r\n"
		if _, err := fmt.Fprintf(to, "%s %s HTTP/1.1\r\n%s\r\n\r\n%s", c[0], c[1], strings.Join(header, "\r\n"), strings.Repeat(chunk, (100_000+256<<10)/0x1000+2)); err != nil {
			t.Fatal(err)
		}
		p := harness.ReadAnswer(t, bufio.NewReader(to), c[0])
		if wantError(t, p, http.StatusRequestEntityTooLarge, "payload_too_large", ""); len(u.Hits()) != 0 {
			t.Errorf("%s %s: what was refused was sent", c[0], c[1])
		}
	}
}
