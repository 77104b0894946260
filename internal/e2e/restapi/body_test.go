package restapi

import (
	"bufio"
	"fmt"
	"io"
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

// Where a body is not sent, its client must not believe that it was heeded.
func TestBodyThatIsNotSentIsRefused(t *testing.T) {
	u := newRecorded(t, says("application/json", `{"id":7}`))
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "hosts"}, {"path": "zones", "routes": [
		{"method": "GET", "path": "/zones/{id}", "upstream": "/zones/{id}"},
		{"method": "DELETE", "path": "/zones/{id}", "upstream": "/zones/{id}", "as": "json"},
		{"method": "DELETE", "path": "/zones/{id}/keys/{sub_id}", "upstream": "/keys/{sub_id}"}]},
		{"path": "tasks", "routes": [{"method": "DELETE", "path": "/tasks/{id}", "upstream": "/rpc", "upstream_method": "POST"},
		{"method": "GET", "path": "/tasks/{id}", "upstream": "/rpc", "rpc": {"method": "get", "params": "[{id}]"}}]}]`)
	for _, c := range []struct {
		method, path, body, sent string
		refused                  bool
	}{
		{"DELETE", "/hosts/7", "", "", false}, {"DELETE", "/hosts/7", "{}", "", false}, {"DELETE", "/hosts/7", "null", "", false},
		{"DELETE", "/hosts/7", `{"cascade":true}`, "", true}, {"DELETE", "/hosts/7", "cascade=1", "", true},
		{"GET", "/hosts/7", `{"query":{}}`, "", true}, {"GET", "/hosts", `{"query":{}}`, "", true}, {"GET", "/hosts", "{}", "", false},
		{"DELETE", "/zones/7", `{"cascade":true}`, `{"cascade":true}`, false}, {"DELETE", "/zones/7", "", "", false},
		{"DELETE", "/zones/7/keys/1", `{"force":true}`, `{"force":true}`, false},
		{"DELETE", "/tasks/7", `{"cascade":true}`, "", true}, {"DELETE", "/tasks/7", "{}", "", false}, {"GET", "/tasks/7", `{"a":1}`, "", true},
	} {
		for _, coding := range [][]string{nil, {"chunked"}} {
			req, err := http.NewRequest(c.method, r.API+c.path, io.NopCloser(strings.NewReader(c.body)))
			if err != nil {
				t.Fatal(err)
			}
			if req.TransferEncoding = coding; coding == nil {
				req.ContentLength = int64(len(c.body))
			}
			req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + r.token("writer")}}
			p := harness.Do(t, harness.NewBrowser(t, "").Client, req)
			if c.refused {
				wantError(t, p, http.StatusBadRequest, "bad_request", "")
				if len(u.Hits()) != 0 || !strings.Contains(p.Body, "a "+c.method+" has no body here") {
					t.Errorf("%s %s %s %s: %s", coding, c.method, c.path, c.body, p.Body)
				}
				continue
			}
			if hit, sent := u.last(t); p.Status > 299 || sent != c.sent || c.sent == "" && hit.Header.Get("Content-Type") != "" {
				t.Errorf("%s %s %s %s: %d %s; sent %q %v", coding, c.method, c.path, c.body, p.Status, p.Body, sent, hit.Header)
			}
		}
	}
}
