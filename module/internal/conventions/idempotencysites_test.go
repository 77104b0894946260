package conventions

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// N17: a key that was used at one site is not answered for another that has the same paths: the
// second would never hear of the request.
func TestAKeyIsNotAnsweredByAnotherSite(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	u.Answer(says("application/json", `{"id":1}`))
	r := &rig{g, t, make(map[string]string)}
	guarded := site[strings.Index(site, "http://$API {"):]
	g.BeginChanged(t, site+strings.Replace(guarded, "http://$API", "http://second.$API", 1), func(config []byte) []byte {
		once := `"upstream": $TO, "resources": [{"path": "articles", "idempotency": true}]`
		return r.with(u.Addr, once)(r.with(u.Addr, once)(config))
	})
	post := func(host string) harness.Page {
		req, err := http.NewRequest(http.MethodPost, r.API+"/articles", strings.NewReader(`{"a":1}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host + strings.TrimPrefix(r.API, "http://")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "the-same")
		req.Header.Set("Authorization", "Bearer "+r.token("writer"))
		return harness.Do(t, harness.NewBrowser(t, "").Client, req)
	}
	first, again, other := post(""), post(""), post("second.")
	if first.Status != 201 || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("N17 %d %s, %v", first.Status, first.Body, again.Header)
	}
	if other.Status != 422 || len(u.Hits()) != 1 {
		t.Errorf("N17 the other site: %d %v %s", other.Status, other.Header, other.Body)
	}
}
