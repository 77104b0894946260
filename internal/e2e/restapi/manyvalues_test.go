package restapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// PHP reads the first thousand values of a query or form, Lua in nginx the first hundred; PHP reads nothing of a form
// of more than 8 MiB. What the gateway adds must be among what they read.
func TestClientCannotCrowdOutWhatTheGatewaySends(t *testing.T) { // R11
	r, u := startPlaced(t, says("application/json", `{"id":1}`), `
	resource notes {
		upstream PUT /notes/{id} POST /notes?a=put as form owner={id} /more/kind=note
		upstream PATCH /notes/{id} POST /notes?a=patch as multipart owner={id}
		wrap note
		send fixed body token=sesame
	}
	resource plains {
		send fixed status=published
	}
	resource tokens {
		send fixed body token=sesame
	}
`)
	members := make([]string, 2000)
	query := make(url.Values)
	for i := range members {
		members[i] = fmt.Sprintf(`"n%d":1`, i)
	}
	for i := range 90 {
		query.Add("n", fmt.Sprint(i))
	}
	r.do("writer", "PUT", "/notes/7", "{"+strings.Join(members, ",")+"}")
	if _, body := u.last(t); !strings.HasPrefix(body, "token=sesame&owner=7&more%5Bkind%5D=note&note%5Bn0%5D=1&") {
		t.Errorf("a form: %.200s", body)
	}
	r.do("writer", "PATCH", "/notes/7", "{"+strings.Join(members, ",")+"}")
	if _, body := u.last(t); strings.Index(body, `name="owner"`) > strings.Index(body, `name="note[n0]"`) {
		t.Errorf("a multipart form: %.500s", body)
	}
	wantError(t, r.do("writer", "PUT", "/notes/7", `{"`+strings.Repeat("n", 20)+`":[1`+strings.Repeat(",1", 250_000)+`]}`), 413, "payload_too_large", "")
	for path, status := range map[string]int{"/plains/7": 400, "/plains": 400, "/tokens/7": 200} {
		if p := r.do("reader", "GET", path+"?"+query.Encode(), ""); p.Status != status {
			t.Errorf("%s with 90 values: %d %s", path, p.Status, p.Body)
		}
	}
	u.last(t)
	r.do("reader", "GET", "/plains/7?"+strings.Repeat("n=1&", 80), "")
	if hit, _ := u.last(t); hit.URL.Query().Get("status") != "published" {
		t.Errorf("80 values: %.100s", hit.RequestURI)
	}
}

// What a sign-in keeps for the query comes behind the client's parameters too.
func TestClientCannotCrowdOutTheSession(t *testing.T) { // R12
	u := newRecorded(t, says("application/json", `{"t":"session"}`))
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "plains"}],
		"login": {"steps": [{"method": "POST", "upstream": "/login", "keep": [{"from": "json", "name": "/t", "in": "query", "as": "sid"}]}]}`)
	wantError(t, r.do("reader", "GET", "/plains/7?"+strings.Repeat("n=1&", 90), ""), 400, "bad_request", "")
	if hits := u.Hits(); len(hits) > 0 {
		t.Errorf("90 values reached the API: %.100s", hits[len(hits)-1].RequestURI)
	}
	r.do("reader", "GET", "/plains/7?"+strings.Repeat("n=1&", 80), "")
	if hits := u.Hits(); len(hits) != 2 || hits[1].URL.Query().Get("sid") != "session" { // the first one signs in
		t.Errorf("80 values: %d requests", len(hits))
	}
}

// Lua in nginx reads the first hundred header fields of a request. Those of the gateway must be among them, also without a guard.
func TestClientCannotCrowdOutHeaderFields(t *testing.T) { // R11
	u := newRecorded(t, says("application/json", `{"id":1}`))
	g := harness.Prepare(t)
	words := "to " + u.Addr + "\nsend fixed header X-Key=sesame\nresource plains\n"
	g.Start(t, "{\n"+harness.Quiet+"\n}\nhttp://$API {\n\tapi_rest {\n"+words+"\t}\n}\n")
	wantError(t, harness.Wire(t, g.API, "GET /plains/7", slices.Repeat([]string{"A:"}, 90)...), 431, "bad_request", "")
	if hits := u.Hits(); len(hits) > 0 {
		t.Errorf("90 fields reached the API: %v", hits[0].Header)
	}
	harness.Wire(t, g.API, "GET /plains/7", slices.Repeat([]string{"A:"}, 70)...)
	if hit, _ := u.last(t); hit.Header.Get("X-Key") != "sesame" {
		t.Errorf("70 fields: %v", hit.Header)
	}
}
