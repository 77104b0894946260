package restapi

import (
	"fmt"
	"net/http"
	"testing"
)

// R14: a result may have members that a client has named. None of them makes a failure of it.
func TestResultMembersAreNotTakenForFaults(t *testing.T) {
	answer := ""
	u := newRecorded(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, answer)
	})
	r := overRPC(t, u.Addr)
	for _, answer = range []string{
		`{"jsonrpc":"2.0","result":{"gatehouse:fault":502,"article":{"aid":7}},"id":1}`,
		`{"result":{"article":{"aid":7}},"error":false,"id":1}`, // how some servers write null
		`{"result":{"article":{"aid":7}},"error":[],"id":1}`,
		`{"id":2,"result":{"article":{"aid":7}},"id":1}`, // the last one counts
	} {
		if p := r.do("reader", http.MethodGet, "/articles/7", ""); p.Status != 200 || p.Body != `{"id":7}` {
			t.Errorf("R14 %s: %d %s", answer, p.Status, p.Body)
		}
	}
}
