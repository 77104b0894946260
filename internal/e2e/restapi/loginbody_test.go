package restapi

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// expiring is an API whose sessions are over after each request that they were good for.
type expiring struct {
	mu      sync.Mutex
	valid   bool
	signIns int
	bodies  []int // of requests that were carried out
	failing bool  // with the session that was just made
}

func (a *expiring) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case q.URL.Path == "/login":
		a.signIns++
		a.valid = true
		w.Header().Set("Set-Cookie", "sid=1")
		says("text/plain", "Ok.")(w, q)
	case !a.valid:
		w.WriteHeader(http.StatusUnauthorized)
	case a.failing:
		a.valid = false
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		a.valid = false
		a.bodies = append(a.bodies, len(body))
		says("application/json", `{"id":1}`)(w, q)
	}
}

func (a *expiring) take() (signIns int, bodies []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	signIns, bodies, a.signIns, a.bodies = a.signIns, a.bodies, 0, nil
	return signIns, bodies
}

// R12: a body that streams is kept for a second try up to max_body. A larger one is sent once:
// where the session was over, the client is told to repeat it.
func TestStreamingBodiesAreRepeatedUpToMaxBody(t *testing.T) {
	a := new(expiring)
	u := harness.NewUpstream(t)
	u.Answer(a.ServeHTTP)
	r := start(t, u.Addr, `"upstream": $TO, "max_body": 1000, "login": {"steps": [{"method": "POST", "upstream": "/login", "keep": [{"from": "cookie"}]}]},
		"resources": [{"path": "things"}, {"path": "forms", "routes": [{"method": "POST", "path": "/forms", "upstream": "/forms", "as": "form"}]}]`)
	body := func(n int) string { return `{"a":"` + strings.Repeat("%", n-len(`{"a":""}`)) + `"}` }
	r.do("writer", "POST", "/things", body(10)) // the first session
	for name, c := range map[string]struct {
		path   string
		size   int
		status int
		sent   int
	}{
		"at the bound":            {"/things", 1000, 201, 1000},
		"beyond it":               {"/things", 1001, 503, 0},
		"written by the gateway":  {"/forms", 1000, 201, len("a=") + 3*(1000-len(`{"a":""}`))},
		"beyond it, and repeated": {"/things", 1001, 201, 1001},
	} {
		t.Run("R12 "+name, func(t *testing.T) {
			a.take()
			p := r.do("writer", "POST", c.path, body(c.size))
			if name == "beyond it, and repeated" {
				p = r.do("writer", "POST", c.path, body(c.size)) // the session was renewed for the first
			}
			signIns, bodies := a.take()
			if p.Status != c.status || signIns != 1 || (p.Status == 503) != (p.Header.Get("Retry-After") != "") || c.sent > 0 && (len(bodies) != 1 || bodies[0] != c.sent) || c.sent == 0 && len(bodies) > 0 {
				t.Errorf("%d %s, %d sign-ins, bodies %v", p.Status, p.Body, signIns, bodies)
			}
			a.mu.Lock()
			a.valid = false
			a.mu.Unlock()
		})
	}
}

// R12: an API that is failing says nothing of the session. There is no sign-in for each request.
func TestFailingUpstreamCausesNoSignInPerRequest(t *testing.T) {
	a := &expiring{failing: true}
	u := harness.NewUpstream(t)
	u.Answer(a.ServeHTTP)
	r := start(t, u.Addr, `"upstream": $TO, "login": {"steps": [{"method": "POST", "upstream": "/login", "keep": [{"from": "cookie"}]}]}, "resources": [{"path": "things"}]`)
	r.token("reader")
	begun := time.Now()
	for range 20 {
		if p := r.do("reader", "GET", "/things/1", ""); p.Status < 500 {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	}
	if n, _ := a.take(); n > 3+int(time.Since(begun)/time.Second) {
		t.Errorf("%d sign-ins for 20 requests in %v", n, time.Since(begun))
	}
}
