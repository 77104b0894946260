package restapi

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestUnrequestedContentCodingIsLogged(t *testing.T) {
	for name, front := range map[string]string{"behind api_errors": "\tapi_errors\n", "alone": ""} {
		t.Run(name, func(t *testing.T) {
			u := harness.NewUpstream(t)
			g := harness.Prepare(t)
			r := &rig{g, t, make(map[string]string)}
			g.StartChanged(t, strings.NewReplacer("output discard", "output file $DIR/log.json", "\tapi_errors\n", front).Replace(site), r.with(u.Addr, listed))
			u.Answer(encoded("br", "\x0b\x02\x80{}\x03"))
			p := r.do("reader", http.MethodGet, "/things/1", "", "Accept-Encoding", "br, gzip")
			wantError(t, p, 502, "upstream_error", "")
			if hits := u.Hits(); len(hits) != 1 || hits[0].Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("%v", hits)
			}
			log, err := os.ReadFile(filepath.Join(r.Dir, "log.json"))
			if want := `Content-Encoding \"br\", expected none`; err != nil || !strings.Contains(string(log), want) {
				t.Errorf("%v: no %s in\n%s", err, want, log)
			}
		})
	}
}

// A client cannot have a failure as a success by asking for it in a coding that no
// condition can look into.
func TestFailureIsNotHiddenByContentCoding(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "undeclared": "pass", "errors": {"fail_when": [{"pointer": "/ok", "op": "==", "values": ["false"], "status": 422}]},
		"resources": [{"path": "things", "batch": ["a"]}]`)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		answer := says("application/json", `{"ok":false}`)
		if strings.Contains(q.Header.Get("Accept-Encoding"), "br") {
			answer = encoded("br", "\x05\x80{\"ok\":false}\x03")
		}
		answer(w, q)
	})
	for _, c := range []struct{ method, path, body string }{
		{http.MethodGet, "/things/1", ""}, {http.MethodPut, "/things/1", `{"a":1}`}, {http.MethodGet, "/other", ""},
	} {
		p := r.do("writer", c.method, c.path, c.body, "Accept-Encoding", "br, gzip;q=0.1")
		wantError(t, p, 422, "validation_failed", "")
	}
	p := r.do("writer", http.MethodPatch, "/things", `[{"id":1,"op":"replace","path":"/a","value":1}]`, "Accept-Encoding", "br")
	if p.Status != 207 || !strings.Contains(p.Body, `"status":422`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}
