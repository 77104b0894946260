package conventions

import (
	"fmt"
	"net/http"
	"testing"
)

// R14: a result may have members that a client has named. None of them makes a failure of it.
func TestNoMemberOfAResultIsAFault(t *testing.T) {
	u := newRecorded(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"jsonrpc":"2.0","result":{"gatehouse:fault":502,"article":{"aid":7}},"id":1}`)
	})
	r := overRPC(t, u.Addr)
	if p := r.do("reader", http.MethodGet, "/articles/7", ""); p.Status != 200 {
		t.Errorf("R14 %d %s", p.Status, p.Body)
	}
}
