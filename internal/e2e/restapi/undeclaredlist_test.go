package restapi

import (
	"net/http"
	"strings"
	"testing"
)

// S02: a list that no configuration describes hides what is dropped, or is no answer.
func TestUndeclaredListHidesWhatIsDropped(t *testing.T) {
	u := newRecorded(t, nil)
	r, logged := startLogging(t, u.Addr, `"upstream": $TO, "resources": [{"path": "people", "drop": ["pin"], "rename": {"name": "n"}}, {"path": "notes", "drop": ["pin"], "off": ["list"]}]`)
	const theirs, ours = `{"id":1,"n":"Ann","pin":"4711"}`, `{"id":1,"name":"Ann"}`
	for _, form := range []string{`{"count":1,"results":[T]}`, `{"data":[T],"meta":{"total":1}}`, `{"data":[T]}`, `{"people":[T],"total":null}`, `{"data":[T],"total":-1,"pagination":{"next":"x"}}`} {
		u.Answer(says("application/json", strings.Replace(form, "T", theirs, 1)))
		if p := r.do("reader", http.MethodGet, "/people", ""); p.Status != 200 || p.Body != strings.Replace(form, "T", ours, 1) {
			t.Errorf("%s: %d %s", form, p.Status, p.Body)
		}
	}
	if log := logged(); strings.Contains(log, "list { items") {
		t.Errorf("%s", log)
	}
	for _, form := range []string{`{"rows":[T],"total":1}`, `{"objects":[T]}`, `{"_embedded":{"people":[T]}}`, `{"page":{"content":[T]}}`, `{"7":T}`, `[[T]]`, `{"data":[[T]]}`, `{"data":[T],"included":[T]}`} {
		u.Answer(says("application/json", strings.ReplaceAll(form, "T", theirs)))
		wantError(t, r.do("reader", http.MethodGet, "/people", ""), 502, "upstream_error", "")
	}
	if log := logged(); !strings.Contains(log, "write list { items") || strings.Contains(log, "4711") {
		t.Errorf("%s", log)
	}
	u.Answer(says("application/json", `{"pin":1,"about":[{"pin":2}]}`))
	if p := r.do("reader", http.MethodGet, "/notes", ""); p.Body != `{"about":[{"pin":2}]}` {
		t.Errorf("one document: %d %s", p.Status, p.Body)
	}
}
