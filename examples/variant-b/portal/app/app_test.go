package app

import (
	"bytes"
	"fmt"
	"github.com/gatehouse/gatehouse/examples/internal/browser"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// rig is the site, a server that it asks, and a browser in front of it.
type rig struct {
	t       *testing.T
	site    *httptest.Server
	browser *http.Client
	app     *App
	asked   []string          // the addresses that were asked, queries included
	answers map[string]string // by path
	status  int
}

const secret = "the-secret-of-the-site"

func start(t *testing.T, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, status: http.StatusOK, answers: map[string]string{
		"/sns/oauth2/access_token": `{"access_token":"AT","expires_in":7200,"refresh_token":"RT","openid":"o-alice","scope":"snsapi_login","unionid":"u-alice"}`,
		"/sns/userinfo":            `{"openid":"o-alice","nickname":"Alice <b>","sex":0,"headimgurl":"https://img.example/a.png","privilege":[],"unionid":"u-alice"}`,
	}}
	sns := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.asked = append(r.asked, q.URL.String())
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, r.answers[q.URL.Path])
	}))
	t.Cleanup(sns.Close)
	r.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.app.ServeHTTP(w, q) }))
	t.Cleanup(r.site.Close)
	c := Config{Open: "http://open.example", API: sns.URL, Self: r.site.URL, AppID: "portal", Secret: secret}
	for _, f := range change {
		f(&c)
	}
	var err error
	if r.app, err = New(c); err != nil {
		t.Fatal(err)
	}
	r.browser = newBrowser(t)
	return r
}

func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// get returns status, address to go to, and page.
func (r *rig) get(path string) (int, string, string) {
	r.t.Helper()
	res, err := r.browser.Get(r.site.URL + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Location"), string(body)
}

// begin presses the button and returns the state.
func (r *rig) begin() string {
	r.t.Helper()
	status, to, page := r.get("/login")
	u, err := url.Parse(to)
	if status != http.StatusFound || err != nil {
		r.t.Fatalf("%d %s %s", status, to, page)
	}
	return u.Query().Get("state")
}

func TestLibrarySignsAVisitorIn(t *testing.T) {
	r := start(t)
	if _, _, page := r.get("/"); !strings.Contains(page, `action="/login"`) {
		t.Error("no button to sign in")
	}
	_, to, _ := r.get("/login")
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Host != "open.example" || u.Path != "/connect/qrconnect" || q.Get("appid") != "portal" || q.Get("scope") != "snsapi_login" || q.Get("redirect_uri") != r.site.URL+"/wx" {
		t.Errorf("sent to %s", to)
	}
	status, to, _ := r.get("/wx?code=C&state=" + q.Get("state"))
	if status != http.StatusSeeOther || to != "/" {
		t.Fatalf("%d %s", status, to)
	}
	_, _, page := r.get("/")
	for _, want := range []string{"Alice &lt;b&gt;", `src="https://img.example/a.png"`, "o-alice", "u-alice", "Sign out"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if len(r.asked) != 2 || !strings.Contains(r.asked[0], "code=C") {
		t.Errorf("asked %q", r.asked)
	}
	out, err := r.browser.Post(r.site.URL+"/logout", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	out.Body.Close()
	if _, _, page := r.get("/"); strings.Contains(page, "o-alice") {
		t.Error("still signed in")
	}
}

func TestCallbackOfAnotherBrowserIsRefused(t *testing.T) {
	r := start(t)
	state := r.begin()
	for _, query := range []string{"code=C", "code=C&state=", "code=C&state=" + strings.ToLower(state), "code=C&state=" + state + "&state=" + state, "code=%zz&state=" + state} {
		if status, _, _ := r.get("/wx?" + query); status != http.StatusForbidden && status != http.StatusBadRequest {
			t.Errorf("%s: %d", query, status)
		}
	}
	mine := r.browser
	r.browser = newBrowser(t)
	if status, _, _ := r.get("/wx?code=C&state=" + state); status != http.StatusForbidden {
		t.Errorf("another browser: %d", status)
	}
	r.browser = mine
	if len(r.asked) != 0 {
		t.Errorf("asked %q", r.asked)
	}
	if status, _, _ := r.get("/wx?code=C&state=" + state); status != http.StatusSeeOther {
		t.Errorf("the true answer after forged ones: %d", status)
	}
	if status, _, _ := r.get("/wx?code=C&state=" + state); status != http.StatusForbidden {
		t.Errorf("a second time: %d", status)
	}
}

func TestVisitorWhoDeclinesSeesAMessage(t *testing.T) {
	r := start(t)
	for _, query := range []string{"error=access_denied&state=", "state="} { // as ours says it, and as the provider does
		state := r.begin()
		if _, _, page := r.get("/wx?" + query + state); !strings.Contains(page, "You said no") {
			t.Errorf("%s: %s", query, page)
		}
	}
}

func TestFaultsShowAndLogNoSecret(t *testing.T) {
	for name, spoil := range map[string]func(*rig){
		"an error of the provider": func(r *rig) {
			r.status, r.answers["/sns/oauth2/access_token"] = 400, `{"error":{"code":"invalid_grant"},"errcode":40029,"errmsg":"invalid code"}`
		},
		"an error as the provider it was written for": func(r *rig) { r.answers["/sns/oauth2/access_token"] = `{"errcode":40029,"errmsg":"invalid code"}` },
		"nobody":                func(r *rig) { r.answers["/sns/userinfo"] = `{}` },
		"no answer":             func(r *rig) { r.app.wechat.TokenURL = "http://127.0.0.1:1/" },
		"no answer the 2nd way": func(r *rig) { r.app.wechat.ProfileURL = "http://127.0.0.1:1/" },
	} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			before := slog.Default()
			slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
			defer slog.SetDefault(before)
			r := start(t)
			state := r.begin()
			spoil(r)
			status, _, page := r.get("/wx?code=THE-CODE&state=" + state)
			if status != http.StatusBadGateway || !strings.Contains(page, "could not be signed in") || logged.Len() == 0 {
				t.Errorf("%d %s %s", status, page, &logged)
			}
			for _, hidden := range []string{secret, "THE-CODE", "AT", state} {
				if strings.Contains(page+logged.String(), "="+hidden) {
					t.Errorf("%s is shown: %s", hidden, &logged)
				}
			}
		})
	}
}

func TestSessionCountIsLimited(t *testing.T) {
	at := time.Unix(1_900_000_000, 0)
	r := start(t, func(c *Config) { c.Sessions, c.Now = 3, func() time.Time { return at } })
	state := r.begin()
	if status, _, _ := r.get("/wx?code=C&state=" + state); status != http.StatusSeeOther {
		t.Fatal(status)
	}
	mine := r.browser
	for range 20 {
		r.browser, at = newBrowser(t), at.Add(time.Second)
		r.begin()
	}
	r.browser = mine
	if _, _, page := r.get("/"); !strings.Contains(page, "o-alice") {
		t.Error("who was signed in has gone")
	}
	at = at.Add(browser.SessionLife)
	if _, _, page := r.get("/"); strings.Contains(page, "o-alice") {
		t.Error("the session goes on after its end")
	}
}

func TestLoginAboveSessionLimitIs503(t *testing.T) {
	r := start(t, func(c *Config) { c.Sessions = 1 })
	state := r.begin()
	r.get("/wx?code=C&state=" + state)
	r.browser = newBrowser(t)
	if status, _, _ := r.get("/login"); status != http.StatusServiceUnavailable {
		t.Errorf("%d", status)
	}
}

func TestSignInChangesTheSessionID(t *testing.T) {
	r := start(t)
	at, err := url.Parse(r.site.URL)
	if err != nil {
		t.Fatal(err)
	}
	state := r.begin()
	before := r.browser.Jar.Cookies(at)[0].Value
	r.get("/wx?code=C&state=" + state)
	if after := r.browser.Jar.Cookies(at)[0].Value; after == before || r.app.sessions.User(&http.Request{Header: http.Header{"Cookie": {cookieName + "=" + before}}}) != nil {
		t.Error("an ID that was planted before is signed in")
	}
}

func TestCrossSiteRequestCannotSignTheVisitorOut(t *testing.T) {
	r := start(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.site.URL+"/logout", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	res, err := r.browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("%d", res.StatusCode)
	}
}

func TestConfigIsValidated(t *testing.T) {
	for name, c := range map[string]Config{
		"no address": {API: "http://a", Self: "http://b", AppID: "x", Secret: "y"},
		"a slash":    {Open: "http://a/", API: "http://a", Self: "http://b", AppID: "x", Secret: "y"},
		"a file":     {Open: "file:///a", API: "http://a", Self: "http://b", AppID: "x", Secret: "y"},
		"no secret":  {Open: "http://a", API: "http://a", Self: "http://b", AppID: "x"},
		"no appid":   {Open: "http://a", API: "http://a", Self: "http://b", Secret: "y"},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestEveryPageHasItsCSP(t *testing.T) {
	r := start(t)
	for _, path := range []string{"/", "/login", "/wx", "/style.css", "/nothing"} {
		res, err := r.browser.Get(r.site.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "form-action 'self' http://open.example") {
			t.Errorf("%s: %s", path, csp)
		}
		if got := fmt.Sprint(res.Header["X-Content-Type-Options"], res.Header["Referrer-Policy"]); got != "[nosniff] [same-origin]" {
			t.Errorf("%s: %s", path, got)
		}
	}
}
