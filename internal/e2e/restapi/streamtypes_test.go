package restapi

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// What is renamed does not reach clients unedited in a form that cannot be edited.
func TestDeclaredAnswerInAnotherFormIsRefused(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things", "rename": {"title": "name"}}, {"path": "feeds", "rename": {"title": "name"}, "pass": ["text/event-stream"]}]`)
	const download = `attachment; filename="a"`
	for _, c := range []struct {
		path, media, disposition string
		status                   int
		body                     string
	}{
		{"/things/1", "text/event-stream", "", 502, `"upstream_error"`},
		{"/things/1", "application/x-ndjson", "", 502, `"upstream_error"`},
		{"/things/1", "application/ndjson", "", 502, `"upstream_error"`},
		{"/things/1", "application/pdf", download, 502, `"upstream_error"`},
		{"/things/1", "application/json", download, 200, `{"title":1}`},
		{"/feeds/1", "text/event-stream", "", 200, `{"name":1}`},
	} {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.media)
			if c.disposition != "" {
				w.Header().Set("Content-Disposition", c.disposition)
			}
			_, _ = io.WriteString(w, `{"name":1}`)
		})
		if p := r.do("reader", http.MethodGet, c.path, ""); p.Status != c.status || !strings.Contains(p.Body, c.body) {
			t.Errorf("%s %s %s: %d %s", c.path, c.media, c.disposition, p.Status, p.Body)
		}
	}
}

// A stream is not held for a tag, whichever name its type has.
func TestStreamIsNotHeldForItsTag(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things", "etag": true}]`)
	for _, media := range []string{"text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl"} {
		u.Answer(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", media)
			_, _ = io.WriteString(w, "{}\n")
			_ = http.NewResponseController(w).Flush()
			<-q.Context().Done() // the client has the first line and goes
		})
		res := r.open(t.Context(), "reader", http.MethodGet, "/things/1")
		if line, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil || line != "{}\n" {
			t.Errorf("%s: %q %v", media, line, err)
		}
		_ = res.Body.Close()
	}
}
