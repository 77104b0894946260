package restapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// signedAPI is one of several APIs that are signed in to alike, and notes what it gets of others.
type signedAPI struct {
	name string

	mu      sync.Mutex
	signIns int
	got     []string // cookie and token of requests that are no sign-in
}

func (a *signedAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/login" {
		a.signIns++
		w.Header().Set("Set-Cookie", fmt.Sprintf("sid=%s-s%d", a.name, a.signIns))
		_, _ = fmt.Fprintf(w, `{"token":"%s-t%d"}`, a.name, a.signIns)
		return
	}
	a.got = append(a.got, r.Header.Get("Cookie")+" "+string(body))
	if a.signIns > 0 && r.Header.Get("Cookie") != fmt.Sprintf("sid=%s-s%d", a.name, a.signIns) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = fmt.Fprintf(w, `{"r":{"id":1,"api":%q}}`, a.name)
}

// requests gives how often the gateway signed in, and what came since the last call.
func (a *signedAPI) requests() (signIns int, got []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	got, a.got = a.got, nil
	return a.signIns, got
}

const signedVersions = `"upstream": $TO, "login": $LOGIN, "versions": [{"name": "v1", "strip_prefix": true},
	{"name": "v2", "upstream": [{"handle": [{"handler": "reverse_proxy", "upstreams": [{"dial": "$SECOND"}]}]}], "login": $LOGIN},
	{"name": "v3", "upstream": [{"handle": [{"handler": "reverse_proxy", "upstreams": [{"dial": "$THIRD"}]}]}]}
], "resources": [{"path": "things", "item": "/r"}]`

// R12: each upstream has a session of its own, and none sees another's, though all are signed in to alike.
func TestEachVersionHasItsOwnUpstreamSession(t *testing.T) {
	var apis []*signedAPI
	words := []string{"$LOGIN", `{"steps": [{"method": "POST", "upstream": "/login", "send": [{"name": "user", "value": "gateway"}],
		"keep": [{"from": "cookie"}, {"from": "json", "name": "/token", "in": "body", "as": "token"}]}]}`}
	var first string
	for i, name := range []string{"one", "two", "three"} {
		a := &signedAPI{name: name}
		u := harness.NewUpstream(t)
		u.Answer(a.ServeHTTP)
		apis = append(apis, a)
		if i == 0 {
			first = u.Addr
		}
		words = append(words, []string{"$FIRST", "$SECOND", "$THIRD"}[i], u.Addr)
	}
	r, logged := startLogging(t, first, strings.NewReplacer(words...).Replace(signedVersions))
	r.token("writer")
	var wait sync.WaitGroup
	for i := range 24 { // all at once: no sign-in may end with another API's session
		wait.Go(func() {
			method, path, body := "GET", fmt.Sprintf("/v%d/things/1", i%3+1), ""
			if i%2 == 1 {
				method, body = "PATCH", `{"a":1}`
			}
			if p := r.do("writer", method, path, body); p.Status != 200 || !strings.Contains(p.Body, `"api":"`+apis[i%3].name+`"`) {
				t.Errorf("R12 %s %s: %d %s", method, path, p.Status, p.Body)
			}
		})
	}
	wait.Wait()
	for i, a := range apis {
		signIns, got := a.requests()
		if len(got) != 8 || signIns != []int{1, 1, 0}[i] {
			t.Errorf("R12 %s: %d sign-ins, %d requests", a.name, signIns, len(got))
		}
		for _, line := range got {
			own := strings.Contains(line, a.name+"-s1") && (!strings.Contains(line, `"a":1`) || strings.Contains(line, a.name+"-t1"))
			if own != (a.name != "three") || strings.Count(line, "-s")+strings.Count(line, "-t") > 2 || a.name == "three" && strings.Contains(line, "-") {
				t.Errorf("R12 %s was sent %s", a.name, line)
			}
		}
	}
	// One that is over is renewed at its own API.
	apis[1].mu.Lock()
	apis[1].signIns += 10
	apis[1].mu.Unlock()
	for _, path := range []string{"/v2/things/1", "/v1/things/1", "/things/1"} {
		if p := r.do("reader", "GET", path, ""); p.Status != 200 {
			t.Errorf("R12 %s: %d %s", path, p.Status, p.Body)
		}
	}
	one, _ := apis[0].requests()
	if two, _ := apis[1].requests(); one != 1 || two != 12 {
		t.Errorf("R12 %d and %d sign-ins", one, two)
	}
	// What a sign-in gives is the gateway's to send, at the APIs that it signs in to.
	for path, status := range map[string]int{"/v1/things/1": 400, "/v2/things/1": 400, "/v3/things/1": 200} {
		if p := r.do("writer", "PATCH", path, `{"token":"mine"}`); p.Status != status {
			t.Errorf("R12 %s with a token of the client's: %d %s", path, p.Status, p.Body)
		}
	}
	// Nor does the proxy of any write a session to the log.
	for _, session := range []string{"one-s", "one-t", "two-s", "two-t"} {
		if log := logged(); strings.Contains(log, session) {
			at := strings.Index(log, session)
			t.Errorf("R12 the log has %s: %s", session, log[max(at-300, 0):min(at+100, len(log))])
		}
	}
	r.Load(t, strings.Replace(site, "scope read \"Read\"", "scope read \"Read it\"", 1))
	for _, path := range []string{"/v2/things/1", "/v1/things/1"} {
		if p := r.do("reader", "GET", path, ""); p.Status != 200 {
			t.Errorf("R12 %s after a reload: %d %s", path, p.Status, p.Body)
		}
	}
	one, _ = apis[0].requests()
	if two, _ := apis[1].requests(); one != 1 || two != 12 {
		t.Errorf("R12 after a reload: %d and %d sign-ins", one, two)
	}
}
