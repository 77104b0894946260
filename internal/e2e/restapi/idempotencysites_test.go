package restapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// N17: a key that was used at one site is not answered for another that has the same paths: the
// second would never hear of the request. Nor does one site take a cursor of the other's. Sites
// differ in their host, or only in their port.
func TestSitesShareNeitherIdempotencyKeysNorCursors(t *testing.T) {
	ports := harness.FreePorts(t, 2)
	other := fmt.Sprintf("localhost:%d", ports[0])
	g := harness.Prepare(t, "$OTHER", other)
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodGet {
			says("application/json", `{"items":[{"id":1}],"next":"n2"}`)(w, q)
			return
		}
		says("application/json", `{"id":1}`)(w, q)
	})
	r := &rig{g, t, make(map[string]string)}
	guarded := site[strings.Index(site, "http://$API {"):]
	text := site + strings.Replace(guarded, "http://$API", "http://second.$API", 1) + strings.Replace(guarded, "http://$API", "http://$OTHER", 1)
	declare := r.with(u.Addr, `"upstream": $TO, "resources": [{"path": "articles", "idempotency": true, "list": {"items": "/items", "cursors": [{"parameter": "after", "pointer": "/next"}]}}]`)
	g.StartChanged(t, text, func(config []byte) []byte { return declare(declare(declare(config))) })
	at := map[string]string{"the first": strings.TrimPrefix(r.API, "http://"), "another host": "second." + strings.TrimPrefix(r.API, "http://"), "another port": other}
	ask := func(site, method, path string) harness.Page {
		address := r.API
		if site == "another port" {
			address = "http://" + other
		}
		body := map[string]string{http.MethodPost: `{"a":1}`}[method]
		req, err := http.NewRequest(method, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = at[site]
		if method == http.MethodPost {
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Idempotency-Key", "the-same")
		}
		req.Header.Set("Authorization", "Bearer "+r.token("writer"))
		return harness.Do(t, harness.NewBrowser(t, "").Client, req)
	}
	first := ask("the first", "POST", "/articles")
	next := linked(ask("the first", "GET", "/articles"), "next")
	if first.Status != 201 || !strings.Contains(next, "cursor=") {
		t.Fatalf("N17 %d %s, next %q", first.Status, first.Body, next)
	}
	own := func(when string) {
		t.Helper()
		if p := ask("the first", "POST", "/articles"); p.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("N17 %s, its own key: %d %v", when, p.Status, p.Header)
		}
		if p := ask("the first", "GET", next); p.Status != 200 {
			t.Errorf("N17 %s, its own cursor: %d %s", when, p.Status, p.Body)
		}
	}
	own("the same site")
	for _, name := range []string{"another host", "another port"} {
		t.Run("N17 "+name, func(t *testing.T) {
			u.Hits()
			wantError(t, ask(name, "POST", "/articles"), 422, "idempotency_key_reused", "Idempotency-Key")
			wantError(t, ask(name, "GET", next), 400, "invalid_parameter", "cursor")
			if n := len(u.Hits()); n != 0 {
				t.Errorf("%d requests were sent", n)
			}
			if p := ask(name, "GET", "/articles"); p.Status != 200 || linked(p, "next") == "" || ask(name, "GET", linked(p, "next")).Status != 200 {
				t.Errorf("its own cursor: %d %s", p.Status, p.Body)
			}
		})
	}
	// Caddy numbers the servers, and a new one comes in between.
	g.Load(t, text+fmt.Sprintf("http://127.0.0.1:%d {\n\trespond ok\n}\n", ports[1]))
	own("after a reload with one more server")
	if p := ask("another port", "POST", "/articles"); p.Status != 422 {
		t.Errorf("N17 another port after a reload: %d %s", p.Status, p.Body)
	}
}
