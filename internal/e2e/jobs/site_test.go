package jobs

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// TestMain makes the certificate of httptest one that the system trusts, for this process
// and those it starts: an https server on loopback is fetched from like any other.
func TestMain(m *testing.M) {
	s := httptest.NewTLSServer(nil)
	file, err := os.CreateTemp("", "ca-*.pem")
	if err == nil {
		err = pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}
	if err == nil {
		err = os.Setenv("SSL_CERT_FILE", file.Name())
	}
	s.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.Remove(file.Name())
	os.Exit(code)
}

const site = "{\n" + harness.Quiet + `
	gatehouse {
		issuer http://$ID
		store bolt $DIR/state.db
		scope imports "Import"
		client one {
			secret one-secret-0123456789-0123456789-0123456789
			grants client_credentials
			scopes imports
			default_scopes imports
		}
		client two {
			secret two-secret-0123456789-0123456789-0123456789
			grants client_credentials
			scopes imports
			default_scopes imports
		}
	}
}
http://$ID {
	oauth_server
}
http://$API {
	api_errors
	oauth_guard {
		public GET /free
		scope imports * /*
	}
	api_rest {
		to $UPSTREAM
		$JOBS
	}
}
`

// imports is the usual job; files come from 127.0.0.1.
const imports = `job import-jobs {
	upstream POST /import
	fetch file_url max 1MiB timeout 5s allow 127.0.0.1/32
	$MORE
}`

type rig struct {
	*harness.Gateway
	t        *testing.T
	upstream *upstream
	mu       sync.Mutex
	tokens   map[string]string
}

// prepare fills the ports and the upstream into Caddyfiles.
func prepare(t *testing.T) *rig {
	t.Helper()
	u := newUpstream(t)
	return &rig{Gateway: harness.Prepare(t, "$UPSTREAM", u.addr), t: t, upstream: u, tokens: make(map[string]string)}
}

// with is the site with a job, and more words in it.
func with(job string, more ...string) string {
	return strings.Replace(site, "$JOBS", strings.Replace(job, "$MORE", strings.Join(more, "\n\t"), 1), 1)
}

// start runs the usual site in this process.
func start(t *testing.T, job string, more ...string) *rig {
	t.Helper()
	r := prepare(t)
	r.Start(t, with(job, more...))
	return r
}

func (r *rig) token(client string) string {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tokens[client] == "" {
		p := r.Token(r.t, harness.Credentials{ID: client, Secret: client + "-secret-0123456789-0123456789-0123456789"}, url.Values{"grant_type": {"client_credentials"}})
		r.tokens[client], _ = p.JSON(r.t)["access_token"].(string)
		if r.tokens[client] == "" {
			r.t.Fatalf("no token: %d %s", p.Status, p.Body)
		}
	}
	return r.tokens[client]
}

var client = &http.Client{Timeout: 40 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// do sends a request as a client, header in pairs.
func (r *rig) do(who, method, path, body string, header ...string) harness.Page {
	r.t.Helper()
	req, err := http.NewRequest(method, r.API+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body == "" {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if who != "" {
		req.Header.Set("Authorization", "Bearer "+r.token(who))
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return harness.Do(r.t, client, req)
}

// shown is a job as its owner sees it.
type shown struct {
	ID       string
	State    string
	Progress *int
	Created  *time.Time `json:"created_at"`
	Started  *time.Time `json:"started_at"`
	Finished *time.Time `json:"finished_at"`
	Result   json.RawMessage
	Omitted  bool `json:"result_omitted"`
	Error    *struct {
		Code, Message string
		Field         *string
	}
}

func read(t *testing.T, p harness.Page, status int) (s shown) {
	t.Helper()
	if p.Status != status {
		t.Fatalf("%d %s, want %d", p.Status, p.Body, status)
	}
	if err := json.Unmarshal([]byte(p.Body), &s); err != nil {
		t.Fatalf("%s: %v", p.Body, err)
	}
	return s
}

// fetching is the body that asks for a file.
func fetching(address string) string {
	b, _ := json.Marshal(map[string]string{"file_url": address})
	return string(b)
}

// submit makes a job and returns its path.
func (r *rig) submit(who, address string) string {
	r.t.Helper()
	p := r.do(who, http.MethodPost, "/import-jobs", fetching(address))
	read(r.t, p, 202)
	return p.Header.Get("Location")
}

// await reads a job until it is in one of the states, or any final one.
func (r *rig) await(who, at string, states ...string) shown {
	r.t.Helper()
	return r.awaitFor(20*time.Second, who, at, states...)
}

func (r *rig) awaitFor(limit time.Duration, who, at string, states ...string) shown {
	r.t.Helper()
	var s shown
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		s = read(r.t, r.do(who, http.MethodGet, at, ""), 200)
		for _, state := range states {
			if s.State == state {
				return s
			}
		}
		if s.State == "succeeded" || s.State == "failed" || s.State == "cancelled" {
			break
		}
	}
	if len(states) > 0 {
		r.t.Fatalf("%+v error %+v, want %v", s, s.Error, states)
	}
	return s
}

// upstream is an API whose import can be made to wait.
type upstream struct {
	addr string

	mu      sync.Mutex
	came    []arrival
	waiting chan struct{} // closed when imports may go on; nil: at once
	answer  http.HandlerFunc
	ended   int // requests that were given up by the gateway
}

type arrival struct {
	header http.Header
	body   string
	length int64
	err    error
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := new(upstream)
	s := httptest.NewServer(u)
	t.Cleanup(s.Close)
	t.Cleanup(u.release)
	u.addr = s.Listener.Addr().String()
	return u
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body strings.Builder
	_, err := copyTo(&body, r.Body)
	u.mu.Lock()
	u.came = append(u.came, arrival{r.Header.Clone(), body.String(), r.ContentLength, err})
	waiting, answer := u.waiting, u.answer
	u.mu.Unlock()
	if waiting != nil {
		select {
		case <-waiting:
		case <-r.Context().Done():
			u.mu.Lock()
			u.ended++
			u.mu.Unlock()
			return
		}
	}
	if answer != nil {
		answer(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"success":true,"result":{"imported":%d}}`, strings.Count(body.String(), "\n"))
}

// hold makes imports wait until release.
func (u *upstream) hold() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting == nil {
		u.waiting = make(chan struct{})
	}
}

func (u *upstream) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting != nil {
		close(u.waiting)
		u.waiting = nil
	}
}

func (u *upstream) set(answer http.HandlerFunc) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answer = answer
}

func (u *upstream) arrivals() []arrival {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]arrival(nil), u.came...)
}

func (u *upstream) givenUp() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended
}

// awaitArrivals waits until so many requests came.
func (u *upstream) awaitArrivals(t *testing.T, n int) []arrival {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if came := u.arrivals(); len(came) >= n {
			return came
		}
	}
	t.Fatalf("%d requests came, want %d", len(u.arrivals()), n)
	return nil
}

// files is an https server on 127.0.0.1, or another address of this machine.
func files(t *testing.T, serve http.HandlerFunc, at ...string) string {
	t.Helper()
	address := "127.0.0.1:0"
	if len(at) > 0 {
		address = at[0]
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(serve)
	s.Listener.Close()
	s.Listener = l
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// lines serves a file of two lines.
func lines(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	_, _ = w.Write([]byte("A first article\nA second article\n"))
}
