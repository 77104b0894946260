package restapi

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// S02: what is dropped is hidden, too, if the API has the resource further inside its answers than is declared.
func TestWrappedResourceHidesWhatIsDropped(t *testing.T) {
	u := newRecorded(t, nil)
	r, logged := startLogging(t, u.Addr, `"upstream": $TO, "resources": [{"path": "people", "drop": ["pin"], "rename": {"name": "n"}, "off": ["deleted"]},
		{"path": "me", "drop": ["pin"], "routes": [{"method": "GET", "path": "/me", "upstream": "/me"}]},
		{"path": "clubs", "drop": ["pin"], "routes": [{"method": "GET", "path": "/clubs/{id}/members", "upstream": "/x"}, {"method": "POST", "path": "/clubs/{id}/lock", "upstream": "/x"}]}]`)
	for _, form := range []string{`{"data":T}`, `{"status":"ok","n":2,"result":T}`, `{"data":[T],"total":1}`, `{"id":1,"attributes":T}`} {
		u.Answer(says("application/json", strings.Replace(form, "T", `{"id":1,"n":"Ann","pin":"hidden-pin"}`, 1)))
		for _, path := range []string{"/people/1", "/clubs/1/members", "/me"} {
			wantError(t, r.do("reader", http.MethodGet, path, ""), 502, "upstream_error", "")
		}
		for operation, status := range map[string]int{"POST /people": 201, "PUT /people/1": 204, "PATCH /people/1": 204, "DELETE /people/1": 204, "POST /clubs/1/lock": 204} {
			method, path, _ := strings.Cut(operation, " ")
			body := `{"name":"Ann"}`
			if method == http.MethodDelete {
				body = ""
			}
			if p := r.do("writer", method, path, body, "Content-Type", "application/json"); p.Status != status || p.Body != "" {
				t.Errorf("%s %s: %d %s", operation, form, p.Status, p.Body)
			}
		}
	}
	said := func() int { return strings.Count(logged(), "write item <pointer>") }
	for deadline := time.Now().Add(10 * time.Second); said() < 4*(3+5) && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := said(); n != 4*(3+5) || strings.Contains(logged(), "hidden-pin") {
		t.Errorf("%d lines: %s", n, logged())
	}
	u.Answer(says("application/json", `{"id":1,"boss":{"n":"Bea","pin":2},"n":"Ann","pin":1}`))
	if p := r.do("reader", http.MethodGet, "/people/1", ""); p.Status != 200 || p.Body != `{"id":1,"boss":{"n":"Bea","pin":2},"name":"Ann"}` {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}
