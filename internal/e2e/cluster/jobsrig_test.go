package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// other is a second client: who owns a job is one of them.
var other = harness.Credentials{ID: "other", Secret: "other-secret-0123456789-0123456789-01234567"}

// labour is a cluster that runs jobs, and the API that does them.
type labour struct {
	*cluster
	upstream *workshop
	tokens   map[string]string // by client

	submitted atomic.Int64

	mu    sync.Mutex
	owner map[string]harness.Credentials // of the jobs that were accepted
}

// jobSite is an API in which /tasks makes jobs that are never repeated, /again those that
// may be, and /quick those that are done at once. workers is for each node.
const jobSite = `api_rest {
		to $WORKSHOP
		job tasks {
			upstream POST /task
			queue 24
			per_client 12
			workers 2
		}
		job again {
			upstream POST /again
			retry 1
		}
		job quick {
			upstream POST /quick
			queue 200
			per_client 200
			workers 4
		}
	}`

func startLabour(t *testing.T, p plan) *labour {
	t.Helper()
	u := newWorkshop(t)
	p.change = append(p.change, []string{
		"reverse_proxy $UPSTREAM", strings.Replace(jobSite, "$WORKSHOP", u.addr, 1),
		"\t\tclient machine {", `		client other {
			secret ` + other.Secret + `
			grants client_credentials
			scopes read
		}
		client machine {`,
	}...)
	c := start(t, p)
	l := &labour{cluster: c, upstream: u, tokens: make(map[string]string), owner: make(map[string]harness.Credentials)}
	for _, who := range []harness.Credentials{machine, other} {
		a, err := c.form(c.nodes[0], "/token", who, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}})
		if l.tokens[who.ID] = a.field("access_token"); err != nil || l.tokens[who.ID] == "" {
			t.Fatal("client_credentials:", a, err)
		}
	}
	return l
}

// ask sends a request to a node's API as a client.
func (l *labour) ask(at *node, who harness.Credentials, method, path string) (answer, error) {
	var body io.Reader
	n := l.submitted.Add(1)
	if method == http.MethodPost {
		body = strings.NewReader(fmt.Sprintf(`{"n":%d}`, n))
	}
	r, err := http.NewRequest(method, at.API+path, body)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+l.tokens[who.ID])
	a, err := at.send(r)
	if err == nil && a.status == http.StatusAccepted {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.owner[a.header.Get("Location")] = who
		l.upstream.know(a.header.Get("Location"), n)
	}
	return a, err
}

// askInTime is ask where the store is there.
func (l *labour) askInTime(at *node, who harness.Credentials, method, path string) (a answer, err error) {
	whileLate(func() int {
		a, err = l.ask(at, who, method, path)
		return a.status
	})
	return a, err
}

// submit makes a job and returns its path.
func (l *labour) submit(t *testing.T, at *node, who harness.Credentials, path string) string {
	t.Helper()
	a, err := l.askInTime(at, who, http.MethodPost, path)
	if err != nil || a.status != http.StatusAccepted {
		t.Fatal("a job:", a, err)
	}
	return a.header.Get("Location")
}

// shownJob is a job as its owner sees it.
type shownJob struct {
	State string
	Error struct{ Code string }
}

func (l *labour) read(t *testing.T, at *node, who harness.Credentials, job string) (s shownJob) {
	t.Helper()
	a, err := l.askInTime(at, who, http.MethodGet, job)
	if err != nil || a.status != http.StatusOK || json.Unmarshal(a.body, &s) != nil {
		t.Fatal("reading a job:", a, err)
	}
	return s
}

// await reads a job at a node until it is in a state.
func (l *labour) await(t *testing.T, at *node, who harness.Credentials, job, state string) (s shownJob) {
	t.Helper()
	for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if s = l.read(t, at, who, job); s.State == state {
			return s
		}
		if s.State == "succeeded" || s.State == "failed" || s.State == "cancelled" || time.Now().After(deadline) {
			t.Fatalf("%s is %+v, want %s", job, s, state)
		}
	}
}

// workshop is the API behind the nodes. It knows by the number in its body how often each job reached it.
type workshop struct {
	addr string

	mu      sync.Mutex
	numbers map[string]int64    // of the jobs that were accepted
	came    map[int64]int       // how often each job did
	latest  map[int64]time.Time // and when last
	keys    map[int64]string    // the Idempotency-Key of each
	held    map[string]chan struct{}
	givenUp map[int64]int // requests that a gateway ended
}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	u := &workshop{
		numbers: make(map[string]int64), came: make(map[int64]int), latest: make(map[int64]time.Time), keys: make(map[int64]string),
		held: make(map[string]chan struct{}), givenUp: make(map[int64]int),
	}
	s := httptest.NewServer(u)
	t.Cleanup(s.Close)
	t.Cleanup(func() {
		for path := range u.held {
			u.release(path)
		}
	})
	u.addr = s.Listener.Addr().String()
	return u
}

func (u *workshop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var job struct{ N int64 }
	key := r.Header.Get("Idempotency-Key")
	if err := json.NewDecoder(r.Body).Decode(&job); err != nil || key == "" {
		http.Error(w, "expected a number and a key", http.StatusBadRequest)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	u.mu.Lock()
	u.came[job.N]++
	u.latest[job.N] = time.Now()
	if before := u.keys[job.N]; before != "" && before != key {
		u.came[job.N] += 1000 // a repetition must have the key of the first request
	}
	u.keys[job.N] = key
	held := u.held[r.URL.Path]
	u.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			u.mu.Lock()
			u.givenUp[job.N]++
			u.mu.Unlock()
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, `{"done":true}`)
}

// hold has requests of a path wait until release.
func (u *workshop) hold(path string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.held[path] == nil {
		u.held[path] = make(chan struct{})
	}
}

func (u *workshop) release(path string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.held[path] != nil {
		close(u.held[path])
		delete(u.held, path)
	}
}

// know notes the number of a job that was accepted.
func (u *workshop) know(job string, number int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.numbers[job] = number
}

// times is how often a job came.
func (u *workshop) times(job string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.came[u.numbers[job]]
}

func (u *workshop) last(job string) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.latest[u.numbers[job]]
}

func (u *workshop) ended(job string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.givenUp[u.numbers[job]]
}

// awaitTimes waits until a job came so often.
func (u *workshop) awaitTimes(t *testing.T, job string, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); u.times(job) < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s came %d times, want %d", job, u.times(job), n)
		}
	}
}
