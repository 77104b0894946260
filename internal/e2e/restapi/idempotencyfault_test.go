package restapi

import (
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// Without its store the gateway cannot know whether it has sent a request, and sends none.
func TestStoreOutageSendsNothing(t *testing.T) {
	s := redistest.Start(t)
	t.Setenv("CONVENTIONS_SECRET", "a secret of these tests, long enough for every use")
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, _ *http.Request) { whole(w, 10) })
	r := startIn(t, "store bolt $DIR/state.db", "secret {env.CONVENTIONS_SECRET}\n\t\tstore redis "+s.URL(), u.Addr, orders)
	post := func(key string) harness.Page {
		return r.do("writer", "POST", "/orders", `{"n":1}`, "Idempotency-Key", key)
	}
	first := post("k")
	if n := len(u.Hits()); first.Status != 201 || n != 1 {
		t.Fatal(first.Status, first.Body, n)
	}
	s.Freeze()
	for _, key := range []string{"k", "another"} {
		if p := post(key); p.Status != 503 || p.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", key, p.Status, p.Body)
		}
	}
	if p := r.do("writer", "POST", "/orders", `{"n":1}`); p.Status != 201 {
		t.Errorf("a request without a key needs no store: %d %s", p.Status, p.Body)
	}
	s.Thaw()
	if n := len(u.Hits()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
	var again harness.Page
	for range 100 {
		if again = post("k"); again.Status != 503 {
			break
		}
	}
	if again.Status != 201 || again.Body != first.Body || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("afterwards: %d %s", again.Status, again.Body)
	}
}
