package jobs

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func (r *rig) admin(method, path, body string, want int) harness.Page {
	r.t.Helper()
	req, err := http.NewRequest(method, r.Admin+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	p := harness.Do(r.t, client, req)
	if p.Status != want {
		r.t.Fatalf("%s %s: %d %s", method, path, p.Status, p.Body)
	}
	return p
}

// A job that waits when its client is deleted, or removed from the configuration, is not run, also if a client of that id
// is there again when it is its turn.
func TestWaitingJobsEndWithTheirClient(t *testing.T) {
	r := prepare(t)
	config := with(body, "workers 1")
	r.Start(t, config)
	stored := func() {
		p := r.admin(http.MethodPost, "/gatehouse/clients", `{"id":"three","grants":["client_credentials"],"scopes":["imports"],"default_scopes":["imports"]}`, 201)
		var made struct{ Secret string }
		if err := json.Unmarshal([]byte(p.Body), &made); err != nil || made.Secret == "" {
			t.Fatal(p.Body, err)
		}
		p = r.Token(t, harness.Credentials{ID: "three", Secret: made.Secret}, url.Values{"grant_type": {"client_credentials"}})
		r.tokens["three"], _ = p.JSON(t)["access_token"].(string)
	}
	stored()
	r.upstream.hold()
	var made []string
	for _, who := range []string{"one", "one", "one", "two", "three"} { // the first has the only worker
		p := r.do(who, http.MethodPost, "/import-jobs", "{}")
		read(t, p, 202)
		made = append(made, p.Header.Get("Location"))
	}
	r.upstream.awaitArrivals(t, 1)

	r.admin(http.MethodDelete, "/gatehouse/clients/three", "", 204)
	r.Load(t, strings.Replace(config, "client two {", "client other {", 1))
	time.Sleep(1100 * time.Millisecond) // a token is refused if it was issued in the second of the end
	r.Load(t, config)
	stored()
	delete(r.tokens, "two")
	p := r.do("three", http.MethodPost, "/import-jobs", "{}")
	read(t, p, 202)
	r.upstream.release()
	r.await("three", p.Header.Get("Location"), "succeeded")
	for i, who := range []string{"two", "three"} {
		if s := r.await(who, made[i+3], "failed"); s.Error == nil || s.Error.Code != "access_ended" {
			t.Errorf("the job of the former client %s: %+v", who, s)
		}
	}
	if n := len(r.upstream.arrivals()); n != 4 {
		t.Errorf("%d jobs were run, want 4", n)
	}
}
