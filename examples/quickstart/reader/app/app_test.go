package app

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"github.com/gatehouse/gatehouse/examples/internal/browser"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

const clientSecret = "the secret of the reader"

// world is the reader with an issuer and an API that do what the test says.
type world struct {
	t            *testing.T
	reader       *httptest.Server
	issuer, api  *httptest.Server
	browser      *http.Client
	mu           sync.Mutex
	now          time.Time
	challenge    string // of the last authorization request
	access       int    // number of the last access token
	user         string // of whom the issuer speaks
	expiresIn    int
	tokenStatus  int
	tokenAnswer  string
	apiStatus    int
	apiRetry     string
	bearers      []string
	grants       []string
	sessionsMost int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	wo := &world{t: t, now: time.Now(), user: "u-1001", expiresIn: 3600, sessionsMost: 3}
	wo.issuer = httptest.NewServer(http.HandlerFunc(wo.token))
	wo.api = httptest.NewServer(http.HandlerFunc(wo.resource))
	var a *App
	wo.reader = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.ServeHTTP(w, r) }))
	for _, s := range []*httptest.Server{wo.issuer, wo.api, wo.reader} {
		t.Cleanup(s.Close)
	}
	var err error
	a, err = New(Config{Issuer: wo.issuer.URL, API: wo.api.URL, Self: wo.reader.URL, ClientID: "reader-web", ClientSecret: clientSecret,
		Sessions: wo.sessionsMost, Now: func() time.Time { wo.mu.Lock(); defer wo.mu.Unlock(); return wo.now }})
	if err != nil {
		t.Fatal(err)
	}
	wo.browser = newBrowser(t)
	return wo
}

// newBrowser keeps cookies and shows each redirect to the test.
func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (wo *world) token(w http.ResponseWriter, r *http.Request) {
	wo.mu.Lock()
	defer wo.mu.Unlock()
	if r.URL.Path == "/userinfo" {
		fmt.Fprintf(w, `{"sub":%q,"name":"Alice <i>Example</i>"}`, wo.user)
		return
	}
	id, secret, _ := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	if r.URL.Path != "/token" || id != "reader-web" || secret != clientSecret || r.FormValue("client_secret") != "" {
		w.WriteHeader(401)
		return
	}
	grant := r.PostFormValue("grant_type")
	wo.grants = append(wo.grants, grant)
	w.Header().Set("Content-Type", "application/json")
	if wo.tokenStatus != 0 {
		w.WriteHeader(wo.tokenStatus)
		fmt.Fprint(w, wo.tokenAnswer)
		return
	}
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if grant == "authorization_code" && (base64.RawURLEncoding.EncodeToString(sum[:]) != wo.challenge ||
		r.PostFormValue("code") != "the code" || r.PostFormValue("redirect_uri") != wo.reader.URL+"/callback") {
		w.WriteHeader(400)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	wo.access++
	fmt.Fprintf(w, `{"access_token":"access-%d","token_type":"Bearer","expires_in":%d,"refresh_token":"refresh-%d"}`, wo.access, wo.expiresIn, wo.access)
}

func (wo *world) resource(w http.ResponseWriter, r *http.Request) {
	wo.mu.Lock()
	defer wo.mu.Unlock()
	wo.bearers = append(wo.bearers, r.Header.Get("Authorization"))
	if wo.apiStatus != 0 {
		if wo.apiRetry != "" {
			w.Header().Set("Retry-After", wo.apiRetry)
		}
		w.WriteHeader(wo.apiStatus)
		return
	}
	switch r.URL.Path {
	case "/profile":
		fmt.Fprint(w, `{"subject":"u-1001","client":"reader-web"}`)
	case "/articles":
		fmt.Fprint(w, `{"data":[{"id":7,"title":"Bridges <script>alert(1)</script>","created_at":"2026-05-01T12:00:00Z"}],"pagination":{"total":250}}`)
	}
}

func (wo *world) set(change func()) {
	wo.mu.Lock()
	defer wo.mu.Unlock()
	change()
}

// get returns status, Location and body of a page of the reader.
func (wo *world) get(browser *http.Client, path string) (int, string, string) {
	wo.t.Helper()
	resp, err := browser.Get(wo.reader.URL + path)
	if err != nil {
		wo.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		wo.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Location"), string(body)
}

// begin goes as far as the issuer and returns the state that it was given.
func (wo *world) begin(browser *http.Client) string {
	wo.t.Helper()
	status, to, _ := wo.get(browser, "/login")
	at, err := url.Parse(to)
	if err != nil || status != 302 {
		wo.t.Fatalf("/login: %d to %s", status, to)
	}
	wo.set(func() { wo.challenge = at.Query().Get("code_challenge") })
	return at.Query().Get("state")
}

func (wo *world) signIn() {
	wo.t.Helper()
	state := wo.begin(wo.browser)
	if status, to, body := wo.get(wo.browser, "/callback?code=the+code&state="+state); status != 303 || to != "/" {
		wo.t.Fatalf("callback: %d to %q: %s", status, to, body)
	}
}

func (wo *world) cookie() string {
	at, _ := url.Parse(wo.reader.URL)
	for _, c := range wo.browser.Jar.Cookies(at) {
		if c.Name == cookieName {
			return c.Value
		}
	}
	return ""
}

func TestConfigurationIsChecked(t *testing.T) {
	good := Config{Issuer: "http://localhost:8080", API: "http://localhost:8081", Self: "http://localhost:8082", ClientID: "reader-web", ClientSecret: "s"}
	cases := map[string]func(c *Config){
		"no issuer":              func(c *Config) { c.Issuer = "" },
		"an issuer with a slash": func(c *Config) { c.Issuer += "/" },
		"an API without scheme":  func(c *Config) { c.API = "localhost:8081" },
		"an address that is odd": func(c *Config) { c.Self = "ftp://localhost" },
		"no client":              func(c *Config) { c.ClientID = "" },
		"no secret":              func(c *Config) { c.ClientSecret = "" },
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	for name, spoil := range cases {
		c := good
		spoil(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPagesHaveHeadersAndNoScript(t *testing.T) {
	wo := newWorld(t)
	resp, err := wo.browser.Get(wo.reader.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	for _, want := range []string{`<html lang="en">`, `name="viewport"`, "<button>Sign in</button>", "<h1>Article Reader</h1>"} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the first page has no %s", want)
		}
	}
	csp := resp.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "form-action 'self' "+wo.issuer.URL) || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", resp.Header)
	}
	if status, _, _ := wo.get(wo.browser, "/nowhere"); status != 404 {
		t.Errorf("an unknown page: %d", status)
	}
	if status, _, css := wo.get(wo.browser, "/style.css"); status != 200 || !strings.Contains(css, "color-scheme: light dark") {
		t.Errorf("the style sheet: %d", status)
	}
}

func TestCookieIsHTTPOnlyAndTokenStaysOnTheServer(t *testing.T) {
	for self, secure := range map[string]bool{"http://localhost:8082": false, "https://reader.example": true} {
		a, err := New(Config{Issuer: "http://localhost:8080", API: "http://localhost:8081", Self: self, ClientID: "reader-web", ClientSecret: "s"})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest("GET", self+"/login", nil))
		c := w.Result().Cookies()[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure != secure || c.Path != "/" || len(c.Value) < 26 {
			t.Errorf("%s: %s", self, c)
		}
	}
	wo := newWorld(t)
	wo.signIn()
	_, _, body := wo.get(wo.browser, "/")
	if strings.Contains(body, "access-1") || strings.Contains(wo.cookie(), "access-1") {
		t.Error("the token reached the browser")
	}
}

func TestAuthorizationRequestIsComplete(t *testing.T) {
	wo := newWorld(t)
	_, to, _ := wo.get(wo.browser, "/login")
	at, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, wo.issuer.URL+"/authorize?") {
		t.Fatal(to, err)
	}
	q := at.Query()
	want := map[string]string{"client_id": "reader-web", "response_type": "code", "scope": "openid profile articles:read", "redirect_uri": wo.reader.URL + "/callback", "code_challenge_method": "S256"}
	for name, value := range want {
		if q.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, q.Get(name), value)
		}
	}
	if len(q.Get("state")) < 26 || len(q.Get("code_challenge")) != 43 || q.Has("client_secret") {
		t.Errorf("query: %v", q)
	}
	if again := wo.begin(wo.browser); again == q.Get("state") {
		t.Error("two sign-ins have the same state")
	}
}

func TestUserSignsInReadsAndSignsOut(t *testing.T) {
	wo := newWorld(t)
	state := wo.begin(wo.browser)
	before := wo.cookie()
	status, to, _ := wo.get(wo.browser, "/callback?code=the+code&state="+state+"&iss="+url.QueryEscape(wo.issuer.URL))
	if status != 303 || to != "/" || wo.cookie() == before {
		t.Fatalf("callback: %d to %q, a new session: %t", status, to, wo.cookie() != before)
	}
	status, _, body := wo.get(wo.browser, "/")
	for _, want := range []string{`<strong id="user">Alice &lt;i&gt;Example&lt;/i&gt;</strong>`, "The newest of 250", "Bridges &lt;script&gt;", "2026-05-01</time>", "Sign out"} {
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("the page (%d) has no %s", status, want)
		}
	}
	if len(wo.bearers) != 2 || wo.bearers[0] != "Bearer access-1" {
		t.Errorf("the API saw %v", wo.bearers)
	}
	kept := wo.cookie()
	resp, err := wo.browser.Post(wo.reader.URL+"/logout", "", nil)
	if err != nil || resp.StatusCode != 303 {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	at, _ := url.Parse(wo.reader.URL)
	wo.browser.Jar.SetCookies(at, []*http.Cookie{{Name: cookieName, Value: kept}})
	if _, _, body := wo.get(wo.browser, "/"); !strings.Contains(body, "<button>Sign in</button>") {
		t.Error("the session's ID is still worth something after the sign-out")
	}
}

func TestForgedCallbackIsRefused(t *testing.T) {
	other := func(wo *world) string { return wo.begin(newBrowser(wo.t)) }
	cases := map[string]func(wo *world, state string) string{
		"no state":                    func(*world, string) string { return "code=the+code" },
		"an empty state":              func(*world, string) string { return "code=the+code&state=" },
		"another state":               func(_ *world, s string) string { return "code=the+code&state=" + s[1:] + "A" },
		"the beginning of the state":  func(_ *world, s string) string { return "code=the+code&state=" + s[:len(s)-1] },
		"the state of another person": func(wo *world, _ string) string { return "code=the+code&state=" + other(wo) },
		"an error without a state":    func(*world, string) string { return "error=access_denied" },
	}
	for name, query := range cases {
		t.Run(name, func(t *testing.T) {
			wo := newWorld(t)
			state := wo.begin(wo.browser)
			challenge := wo.challenge
			status, _, body := wo.get(wo.browser, "/callback?"+query(wo, state))
			if status != 403 || !strings.Contains(body, "was not begun here") || len(wo.grants) != 0 {
				t.Errorf("%d, %d exchanges: %s", status, len(wo.grants), body)
			}
			wo.set(func() { wo.challenge = challenge })
			if status, _, _ := wo.get(wo.browser, "/callback?code=the+code&state="+state); status != 303 {
				t.Errorf("the true callback was refused after the forged one: %d", status)
			}
		})
	}
	t.Run("no session", func(t *testing.T) {
		wo := newWorld(t)
		state := wo.begin(wo.browser)
		if status, _, _ := wo.get(newBrowser(t), "/callback?code=the+code&state="+state); status != 403 {
			t.Errorf("a browser that began nothing: %d", status)
		}
	})
	t.Run("a second time", func(t *testing.T) {
		wo := newWorld(t)
		state := wo.begin(wo.browser)
		for _, want := range []int{303, 403} {
			if status, _, _ := wo.get(wo.browser, "/callback?code=the+code&state="+state); status != want {
				t.Errorf("%d, want %d", status, want)
			}
		}
	})
	t.Run("too late", func(t *testing.T) {
		wo := newWorld(t)
		state := wo.begin(wo.browser)
		wo.set(func() { wo.now = wo.now.Add(browser.PendingLife) })
		if status, _, _ := wo.get(wo.browser, "/callback?code=the+code&state="+state); status != 403 {
			t.Errorf("after ten minutes: %d", status)
		}
	})
}

func TestErrorCallbackShowsAPageWithoutExchange(t *testing.T) {
	cases := map[string]struct {
		query  string
		status int
		want   string
	}{
		"the user said no":      {"error=access_denied", 400, "You said no"},
		"another error":         {"error=server_error&error_description=%3Cb%3Ex", 400, "server_error. &lt;b&gt;x"},
		"an answer of another":  {"code=the+code&iss=https%3A%2F%2Fevil.example", 403, "somebody else"},
		"an empty issuer":       {"code=the+code&iss=", 403, "somebody else"},
		"an error of another":   {"error=access_denied&iss=https%3A%2F%2Fevil.example", 403, "somebody else"},
		"no code":               {"x=1", 400, "no code"},
		"two codes":             {"code=a&code=b", 400, "damaged"},
		"a query that is wrong": {"code=%zz", 400, "damaged"},
	}
	for name, c := range cases {
		wo := newWorld(t)
		status, _, body := wo.get(wo.browser, "/callback?state="+wo.begin(wo.browser)+"&"+c.query)
		if status != c.status || !strings.Contains(body, c.want) || len(wo.grants) != 0 {
			t.Errorf("%s: %d, %d exchanges: %s", name, status, len(wo.grants), body)
		}
	}
}

func TestFailedExchangeSignsNobodyIn(t *testing.T) {
	wo := newWorld(t)
	wo.set(func() { wo.tokenStatus, wo.tokenAnswer = 400, `{"error":"invalid_grant","error_description":"<i>"}` })
	status, _, body := wo.get(wo.browser, "/callback?code=the+code&state="+wo.begin(wo.browser))
	if status != 502 || !strings.Contains(body, "invalid_grant") || strings.Contains(body, "<i>") {
		t.Errorf("%d: %s", status, body)
	}
	if _, _, body := wo.get(wo.browser, "/"); !strings.Contains(body, "<button>Sign in</button>") {
		t.Error("somebody is signed in")
	}
}

func TestExpiredTokenIsRefreshedOnce(t *testing.T) {
	wo := newWorld(t)
	wo.set(func() { wo.expiresIn = 1 }) // within the margin of oauth2: expired at once
	wo.signIn()
	wo.set(func() { wo.expiresIn = 3600 })
	for range 2 {
		if status, _, _ := wo.get(wo.browser, "/"); status != 200 {
			t.Fatal(status)
		}
	}
	if got := strings.Join(wo.grants, " "); got != "authorization_code refresh_token" || wo.bearers[len(wo.bearers)-1] != "Bearer access-2" {
		t.Errorf("grants %s, bearers %v", got, wo.bearers)
	}
}

func TestErrorsAfterSignInAreShown(t *testing.T) {
	cases := map[string]struct {
		change func(wo *world)
		status int
		want   string
		stays  bool
	}{
		"the refresh token was revoked": {func(wo *world) { wo.tokenStatus, wo.tokenAnswer = 400, `{"error":"invalid_grant"}` }, 200, "sign in again", false},
		"the issuer is away":            {func(wo *world) { wo.tokenStatus, wo.tokenAnswer = 503, `{}` }, 502, "out of reach", true},
		"the API refuses the token":     {func(wo *world) { wo.apiStatus = 401 }, 200, "sign in again", false},
		"the limit is met":              {func(wo *world) { wo.apiStatus, wo.apiRetry = 429, "30" }, 429, "in 30 seconds", true},
		"a limit that says no time":     {func(wo *world) { wo.apiStatus = 429 }, 429, "a little later", true},
		"the API is broken":             {func(wo *world) { wo.apiStatus = 500 }, 502, "out of reach", true},
		"the API sends us elsewhere":    {func(wo *world) { wo.apiStatus = 302 }, 502, "out of reach", true},
	}
	for name, c := range cases {
		wo := newWorld(t)
		wo.set(func() { wo.expiresIn = 1 })
		wo.signIn()
		wo.set(func() { c.change(wo) })
		status, _, body := wo.get(wo.browser, "/")
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", name, status, body)
		}
		wo.set(func() { wo.apiStatus, wo.tokenStatus = 0, 0 })
		if _, _, body := wo.get(wo.browser, "/"); strings.Contains(body, `id="user"`) != c.stays {
			t.Errorf("%s: signed in afterwards: %t", name, !c.stays)
		}
	}
}

func TestCrossSiteRequestCannotSignTheUserOut(t *testing.T) {
	wo := newWorld(t)
	wo.signIn()
	req, err := http.NewRequest("POST", wo.reader.URL+"/logout", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "https://evil.example")
	resp, err := wo.browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if status, _, _ := wo.get(wo.browser, "/logout"); resp.StatusCode != 403 || status != 405 {
		t.Errorf("a foreign POST: %d, a GET: %d", resp.StatusCode, status)
	}
	if _, _, body := wo.get(wo.browser, "/"); !strings.Contains(body, `id="user"`) {
		t.Error("the user is signed out")
	}
}

func TestSessionExpires(t *testing.T) {
	wo := newWorld(t)
	wo.signIn()
	wo.set(func() { wo.now = wo.now.Add(browser.SessionLife) })
	if _, _, body := wo.get(wo.browser, "/"); !strings.Contains(body, "<button>Sign in</button>") {
		t.Error("still signed in after twelve hours")
	}
}

func TestPendingSignInsAreEvictedBeforeSessions(t *testing.T) {
	wo := newWorld(t)
	wo.signIn()
	first := newBrowser(t)
	oldest := wo.begin(first)
	for range 20 {
		wo.set(func() { wo.now = wo.now.Add(time.Second) })
		wo.begin(newBrowser(t))
	}
	if _, _, body := wo.get(wo.browser, "/"); !strings.Contains(body, `id="user"`) {
		t.Error("a flood of begun sign-ins put out somebody who is signed in")
	}
	if status, _, _ := wo.get(first, "/callback?code=the+code&state="+oldest); status != 403 {
		t.Errorf("the oldest begun sign-in is still known: %d", status)
	}
}

func TestSecondSignInInOneSessionHasItsFullTime(t *testing.T) {
	wo := newWorld(t)
	wo.begin(wo.browser)
	wo.set(func() { wo.now = wo.now.Add(browser.PendingLife - time.Second) })
	state := wo.begin(wo.browser)
	wo.set(func() { wo.now = wo.now.Add(browser.PendingLife - time.Second) })
	if status, _, _ := wo.get(wo.browser, "/callback?code=the+code&state="+state); status != 303 {
		t.Errorf("%d", status)
	}
}

func TestOverlongAPIAnswerIsNotRead(t *testing.T) {
	big := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"subject": strings.Repeat("x", maxAnswer)})
	}))
	defer big.Close()
	var p profile
	if err := (api{base: big.URL, client: client()}).get(t.Context(), fixed{}, "/profile", &p); err == nil {
		t.Error("no error")
	}
}

type fixed struct{}

func (fixed) Token() (*oauth2.Token, error) { return &oauth2.Token{AccessToken: "access"}, nil }

func TestClaimsOfAnotherUserAreNotShown(t *testing.T) {
	wo := newWorld(t)
	wo.signIn()
	wo.set(func() { wo.user = "u-2002" })
	if status, _, body := wo.get(wo.browser, "/"); status != http.StatusBadGateway || strings.Contains(body, "Alice") {
		t.Errorf("%d %s", status, body)
	}
}
