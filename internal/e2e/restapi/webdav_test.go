package restapi

import (
	"io"
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// A client of CalDAV goes by the precondition that an error names.
func TestErrorDocumentsOfWebDAVReachTheClient(t *testing.T) {
	const named = `<?xml version="1.0" encoding="utf-8"?><d:error xmlns:d="DAV:"><d:valid-sync-token/></d:error>`
	const leaking = `<d:error xmlns:d="DAV:"><d:no-conflicting-lock/><s:file xmlns:s="http://sabredav.org/ns">/var/www/Locks.php</s:file></d:error>`
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		if w.WriteHeader(http.StatusForbidden); r.URL.Path == "/calendars/7" {
			_, _ = io.WriteString(w, named)
			return
		}
		_, _ = io.WriteString(w, leaking)
	})
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "calendars", "item": "/r"}]`)
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		body := ""
		if method == "PUT" {
			body = `{"a":1}`
		}
		p := r.do("writer", method, "/calendars/7", body)
		if p.Status != 403 || p.Body != named || p.Header.Get("Content-Type") != "application/xml; charset=utf-8" {
			t.Errorf("%s: %d %v %s", method, p.Status, p.Header, p.Body)
		}
		wantError(t, r.do("writer", method, "/calendars/8", body), 403, "forbidden", "")
	}
}
