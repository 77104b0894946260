package restapi

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// N06: an API knows its callers itself, and somebody it does not know sends one key after
// the other. The day's keys are still there for those whom it knows.
func TestRefusedCallersUseUpNoKeys(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("X-Api-Key") != "known" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"id":1}`)
	})
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "open", "idempotency": true}]`)
	const keys = 10_000 + 1 // of a client in a day, and one more
	var next, refused atomic.Int64
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for i := next.Add(1); i <= keys; i = next.Add(1) {
				if p := r.do("", "POST", "/open", `{}`, "Idempotency-Key", fmt.Sprint(i), "X-Api-Key", fmt.Sprint(i)); p.Status != http.StatusUnauthorized {
					refused.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := refused.Load(); n > 0 {
		t.Errorf("N06 %d were not answered by the API", n)
	}
	if p := r.do("", "POST", "/open", `{}`, "Idempotency-Key", "k", "X-Api-Key", "known"); p.Status != http.StatusCreated {
		t.Errorf("N06 a caller whom the API knows: %d %s", p.Status, p.Body)
	}
}
