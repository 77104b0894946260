package growth

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// sizingSite is one node with all that the sizing page speaks of.
const sizingSite = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		level ERROR
	}
	gatehouse {
		issuer http://$ID
		store $STORE
		secret {file.$DIR/secret}
		$LIMITER
		users $USERS
		tokens {
			audience https://api.example
			grants_per_user 1000
		}
		protect {
			per_address 1000000
			codes_per_user 1000000
		}
		scope read "Read"
		client web {
			secret web-secret-0123456789-0123456789-0123456789
			redirect_uri https://client.example/cb
			grants authorization_code refresh_token client_credentials
			scopes read
		}
		$CLIENTS
	}
}
http://$ID {
	oauth_server
}
http://$API {
	oauth_guard {
		$RULES
		scope read GET /*
	}
	api_limit {
		by tenant {http.request.header.X-Tenant} 1000000 1h
	}
	respond ok
}
`

var web = harness.Credentials{ID: "web", Secret: "web-secret-0123456789-0123456789-0123456789"}

// node is a gateway in a process of its own.
type node struct {
	*harness.Gateway
	*harness.Process
	client *http.Client
}

// startNode starts a gateway with a users file of n users; the pairs in more replace words of sizingSite.
func startNode(t *testing.T, n int, more ...string) *node {
	t.Helper()
	g := harness.Prepare(t)
	g.WriteFile(t, "users.json", usersFile(n))
	g.WriteFile(t, "secret", strings.Repeat("0123456789", 5))
	text := strings.NewReplacer(append(more, "$STORE", "bolt $DIR/state.db", "$LIMITER", "", "$USERS", "file $DIR/users.json", "$CLIENTS", "", "$RULES", "")...).Replace(sizingSite)
	s := &node{Gateway: g, Process: g.Run(t, text), client: newClient(t)}
	return s
}

func usersFile(n int) string {
	var b strings.Builder
	b.WriteString(`{"users":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"u-%d","username":"user%[1]d","name":"User Number %[1]d","email":"user%[1]d@example.com","password_hash":%[2]q}`, i, harness.PasswordHash)
	}
	return b.String() + "]}\n"
}

func newClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// call sends a request and returns the body of its answer, which must have this status.
func (s *node) call(t *testing.T, status int, method, address, body string, header ...string) string {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := s.client.Do(r)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		t.Errorf("%s %s: %d %.300s %v, want %d", method, address, res.StatusCode, text, err, status)
	}
	return string(text)
}

// token asks for tokens, and returns the access token and the refresh token.
func (s *node) token(t *testing.T, form url.Values) (access, refresh string) {
	t.Helper()
	basic, _ := http.NewRequest(http.MethodPost, s.ID, nil)
	basic.SetBasicAuth(web.ID, web.Secret)
	text := s.call(t, http.StatusOK, http.MethodPost, s.ID+"/token", form.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Authorization", basic.Header.Get("Authorization"))
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Errorf("%v: %.300s", err, text)
	}
	return got.Access, got.Refresh
}

var clientCredentials = url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}

var authorization = url.Values{
	"response_type": {"code"}, "client_id": {web.ID}, "redirect_uri": {"https://client.example/cb"}, "scope": {"read"}, "state": {"s"},
	"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
}

// signIn lets a user sign in and allow the client, and returns the refresh token.
func (s *node) signIn(t *testing.T, user string) (refresh string) {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	b := harness.NewBrowser(t, s.ID)
	b.Client.Jar = jar
	at := b.Authorize(s.ID+"/authorize?"+authorization.Encode(), user, harness.Password)
	_, refresh = s.token(t, url.Values{
		"grant_type": {"authorization_code"}, "code": {at.Query().Get("code")}, "redirect_uri": {"https://client.example/cb"}, "code_verifier": {harness.Verifier},
	})
	return refresh
}

// read asks the guarded API.
func (s *node) read(t *testing.T, token, tenant string) {
	t.Helper()
	s.call(t, http.StatusOK, http.MethodGet, s.API+"/read", "", "Authorization", "Bearer "+token, "X-Tenant", tenant)
}

// inParallel calls f for 0 to n-1, by so many workers.
func inParallel(workers, n int, f func(i int)) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}

var heapAlloc = regexp.MustCompile(`# HeapAlloc = (\d+)`)

// heap returns the bytes that are in use after the garbage was collected.
func (s *node) heap(t *testing.T) int64 {
	t.Helper()
	for range 3 {
		s.call(t, http.StatusOK, http.MethodGet, s.Admin+"/debug/pprof/heap?gc=1", "")
	}
	m := heapAlloc.FindStringSubmatch(s.call(t, http.StatusOK, http.MethodGet, s.Admin+"/debug/pprof/heap?debug=1&gc=1", ""))
	if m == nil {
		t.Fatal("the profile has no HeapAlloc")
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	return n
}

// cpu returns what the process has used: fields 14 and 15 of /proc/PID/stat, in hundredths of a second.
func (s *node) cpu(t *testing.T) time.Duration {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	var user, system int64
	fields := strings.Fields(rest)
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
