package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// times is how often something is repeated: short, or long in a soak.
func times(short, long int) int {
	if inSoak() {
		return long
	}
	return short
}

// inSoak reports whether the long forms were asked for.
func inSoak() bool { return os.Getenv("GATEHOUSE_SOAK") != "" }

const (
	clientID, clientSecret = "web", "web-secret-0123456789-0123456789-0123456789"
	username, password     = "alice", harness.Password
	callback               = "https://client.example/cb"
)

const passwordHash = "$argon2id$v=19$m=47104,t=1,p=1$4eiIWhonnHYMl9VBuh12Pw$Fjf9xAPAuAdYebGXs273azgXtm+Aj3/YVyeeBVQExXY"

// users are alice, and bob, who does what would use up the grants that alice may have.
const users = `{"users":[{"id":"u-1","username":"alice","password_hash":"` + passwordHash + `"},
{"id":"u-2","username":"bob","password_hash":"` + passwordHash + `"}]}`

const caddyfile = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	grace_period 20s
	log {
		level ERROR
	}
	gatehouse {
		issuer http://$ID
		store bolt $STORE
		users file $DIR/users.json
		tokens {
			audience https://api.example
			grants_per_user 1000
			$TOKENS
		}
		protect {
			per_address 1000
			codes_per_user 1000000
		}
		scope read "Read"
		client web {
			secret web-secret-0123456789-0123456789-0123456789
			redirect_uri https://client.example/cb
			grants authorization_code refresh_token client_credentials
			scopes read
		}
		client machine {
			secret machine-secret-0123456789-0123456789-012345
			grants client_credentials
			scopes read
		}
		$CLIENTS
	}
}
http://$ID {
	oauth_server
}
http://$API {
	header X-Version "$VERSION"
	api_errors
	oauth_guard {
		public GET /public/*
		scope read * /read /read/*
	}
	api_limit {
		$LIMIT
	}
	reverse_proxy $UPSTREAM {
		transport http {
			# Caddy leaves the idle connections of an unloaded configuration alone.
			keepalive 1s
		}
	}
}
`

// config fills a Caddyfile; the pairs replace $TOKENS, $CLIENTS, $LIMIT, $STORE and
// $VERSION, the rest is the gateway's.
func (s *site) config(more ...string) string {
	more = append(more, "$UPSTREAM", s.upstream, "$TOKENS", "", "$CLIENTS", "", "$LIMIT", "client 1000000 1h",
		"$STORE", "$DIR/state.db", "$VERSION", "1")
	return strings.NewReplacer(more...).Replace(caddyfile)
}

// site is the program with everything around it.
type site struct {
	*harness.Gateway
	upstream string
	plain    *http.Client
}

func newSite(t *testing.T) *site {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/read/slow") {
			time.Sleep(slow)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	t.Cleanup(up.Close)
	s := &site{Gateway: harness.Prepare(t), upstream: strings.TrimPrefix(up.URL, "http://"), plain: newClient(t, nil)}
	s.WriteFile(t, "users.json", users)
	return s
}

// slow is how long a slow request takes.
const slow = 1200 * time.Millisecond

// newClient keeps as many connections alive as it is used in parallel.
func newClient(t *testing.T, jar http.CookieJar) *http.Client {
	t.Helper()
	dialer := new(net.Dialer)
	transport := &http.Transport{
		MaxIdleConnsPerHost: 1024, DisableCompression: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, strings.Replace(address, "localhost:", "127.0.0.1:", 1))
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Jar: jar, Transport: transport, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is a response that was read to the end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %.300s", a.status, a.body) }

// refusedToken: the guard found the token invalid. To an address with many of those it
// says 429, without the fields that the limiter's own 429 has.
func (a answer) refusedToken() bool {
	return a.status == http.StatusUnauthorized ||
		a.status == http.StatusTooManyRequests && a.header.Get("X-RateLimit-Limit") == ""
}

// field is a text of a JSON body, "" when there is none.
func (a answer) field(name string) string {
	var m map[string]any
	if json.Unmarshal(a.body, &m) != nil {
		return ""
	}
	s, _ := m[name].(string)
	return s
}

func send(c *http.Client, r *http.Request) (answer, error) {
	res, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, body}, err
}

// token asks the token endpoint as the client.
func (s *site) token(form url.Values) (answer, error) { return s.form("/token", form) }

// revoke asks for the end of a token.
func (s *site) revoke(token string) (answer, error) {
	return s.form("/revoke", url.Values{"token": {token}})
}

func (s *site) form(path string, form url.Values) (answer, error) {
	r, err := http.NewRequest(http.MethodPost, s.ID+path, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(clientID, clientSecret)
	return send(s.plain, r)
}

func (s *site) exchange(code string) (answer, error) {
	return s.token(url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {harness.Verifier},
	})
}

func (s *site) refresh(token string) (answer, error) {
	return s.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

// read calls the guarded API.
func (s *site) read(path, access string) (answer, error) {
	r, err := http.NewRequest(http.MethodGet, s.API+path, nil)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+access)
	return send(s.plain, r)
}

func (s *site) authorizeURL() string {
	return s.ID + "/authorize?" + url.Values{
		"client_id": {clientID}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}.Encode()
}

// signIn is a browser in which alice is signed in and has allowed the client.
func (s *site) signIn(t *testing.T) *http.Client {
	t.Helper()
	return s.signInAs(t, username).Client
}

// signInAs is the same for any user.
func (s *site) signInAs(t *testing.T, username string) *harness.Browser {
	t.Helper()
	b := harness.NewBrowser(t, s.ID)
	b.Client.Transport = s.plain.Transport
	if code := b.Authorize(s.authorizeURL(), username, password).Query().Get("code"); code == "" {
		t.Fatal("no code after signing in")
	}
	return b
}

// code asks for a code in a browser that is signed in.
func (s *site) code(browser *http.Client) (string, error) {
	r, err := http.NewRequest(http.MethodGet, s.authorizeURL()+"&prompt=none", nil)
	if err != nil {
		return "", err
	}
	a, err := send(browser, r)
	if err != nil {
		return "", err
	}
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		return "", fmt.Errorf("no code: %v, Location %q", a, a.header.Get("Location"))
	}
	return to.Query().Get("code"), nil
}

// family is what one code was exchanged for.
type family struct{ code, access, refresh string }

// grant gets a code and exchanges it.
func (s *site) grant(t *testing.T, browser *http.Client) family {
	t.Helper()
	code, err := s.code(browser)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.exchange(code)
	if err != nil || a.status != http.StatusOK {
		t.Fatal("exchange:", a, err)
	}
	return family{code, a.field("access_token"), a.field("refresh_token")}
}

// dies waits until the guard refuses a token: within a second.
func (s *site) dies(t *testing.T, access string) {
	t.Helper()
	for deadline := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		a, err := s.read("/read", access)
		if err == nil && a.refusedToken() {
			return
		}
		if err != nil || a.status != http.StatusOK || time.Now().After(deadline) {
			t.Errorf("the guard still says %v, %v", a, err)
			return
		}
	}
}
