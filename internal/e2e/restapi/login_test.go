package restapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// signedWiki is an API in the manner of MediaWiki: a token to sign in, a session in a cookie, another
// token for writes, and failures with status 200.
type signedWiki struct {
	mu      sync.Mutex
	session int // the number of the one that is valid
	signIns int
	refuse  bool
	deny    bool // every session is over at once
	pages   []string
}

const wikiPassword = "s3cr3t/p4ss&word"

func (a *signedWiki) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Add("Set-Cookie", "wiki_visit=1; Path=/")
	cookie := r.Header.Get("Cookie")
	_ = r.ParseForm()
	valid := strings.Contains(cookie, fmt.Sprintf("wiki_session=sess%d", a.session)) && a.session > 0 && !a.deny
	switch action := r.URL.Query().Get("action"); {
	case action == "logintoken":
		w.Header().Add("Set-Cookie", "wiki_pre=p1; HttpOnly")
		_, _ = io.WriteString(w, `{"query":{"tokens":{"logintoken":"lt+\\"}}}`)
	case action == "login":
		a.signIns++
		if a.refuse || r.PostForm.Get("lgpassword") != wikiPassword || r.PostForm.Get("lgtoken") != `lt+\` || !strings.Contains(cookie, "wiki_pre=p1") {
			_, _ = fmt.Fprintf(w, `{"login":{"result":"Failed","reason":"%s is wrong"}}`, wikiPassword)
			return
		}
		a.session++
		w.Header().Add("Set-Cookie", fmt.Sprintf("wiki_session=sess%d; Path=/; HttpOnly", a.session))
		w.Header().Add("Set-Cookie", "wiki_pre=; Max-Age=0")
		_, _ = io.WriteString(w, `{"login":{"result":"Success"}}`)
	case action == "csrf":
		_, _ = fmt.Fprintf(w, `{"query":{"tokens":{"csrftoken":"c%d+\\"}}}`, a.session)
	case !valid || strings.Contains(cookie, "wiki_pre"):
		_, _ = fmt.Fprintf(w, `{"error":{"code":"assertuserfailed","info":"not signed in: %s"}}`, strings.ReplaceAll(cookie, `"`, ""))
	case action == "edit":
		if got := r.PostForm["token"]; len(got) != 1 || got[0] != fmt.Sprintf(`c%d+\`, a.session) || len(r.Form["lgtoken"]) > 0 {
			_, _ = fmt.Fprintf(w, `{"error":{"code":"badtoken","info":"bad token %v"}}`, got)
			return
		}
		a.pages = append(a.pages, r.PostForm.Get("text"))
		_, _ = fmt.Fprintf(w, `{"edit":{"id":%d}}`, len(a.pages))
	default:
		_, _ = fmt.Fprintf(w, `{"page":{"id":1,"cookie":%q,"fill":%q}}`, cookie, strings.Repeat("x", len(r.URL.Query()["long"])*200_000))
	}
}

func (a *signedWiki) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *signedWiki) count() (signIns, pages int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.signIns, len(a.pages)
}

const signsIn = `"upstream": $TO, "errors": {"fail_when": [{"pointer": "/error", "op": "exists", "status": 422}], "from": [{"kind": "json", "message": "/error/info"}]},
"login": {"steps": [
	{"method": "GET", "upstream": "/api.php?action=logintoken", "keep": [{"from": "json", "name": "/query/tokens/logintoken", "in": "body", "as": "lgtoken", "next": true}]},
	{"method": "POST", "upstream": "/api.php?action=login", "send": [{"name": "lgname", "value": "gateway"}, {"name": "lgpassword", "value": "{file.FILE}"}],
		"keep": [{"from": "cookie"}], "expect": [{"pointer": "/login/result", "op": "==", "values": ["Success"]}]},
	{"method": "GET", "upstream": "/api.php?action=csrf", "keep": [{"from": "json", "name": "/query/tokens/csrftoken", "in": "body", "as": "token"}]}
], "again": [{"pointer": "/error/code", "op": "==", "values": ["badtoken", "assertuserfailed"]}]},
"resources": [{"path": "pages", "item": "/page", "item_of": {"create": "/edit"}, "routes": [
	{"method": "GET", "path": "/pages/{id}", "upstream": "/api.php?action=read&id={id}"},
	{"method": "GET", "path": "/pages/{id}/long", "upstream": "/api.php?action=read&long=1&id={id}"},
	{"method": "POST", "path": "/pages", "upstream": "/api.php?action=edit", "as": "form"}]}]`

func startWiki(t *testing.T) (*signedWiki, *rig) {
	t.Helper()
	a := new(signedWiki)
	u := harness.NewUpstream(t)
	u.Answer(a.ServeHTTP)
	return a, startSigned(t, u.Addr)
}

func startSigned(t *testing.T, upstream string) *rig {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(wikiPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, upstream, strings.ReplaceAll(signsIn, "FILE", file))
}

// private reports what of the gateway's account a client got to see.
func private(p harness.Page) bool {
	text := fmt.Sprint(p.Header, p.Body)
	return strings.Contains(text, "s3cr3t") || strings.Contains(text, "Set-Cookie") || p.Status > 299 && (strings.Contains(text, "wiki_session") || strings.Contains(text, `+\`))
}

func TestGatewaySignsInToTheAPI(t *testing.T) { // R12
	a, r := startWiki(t)
	p := r.do("reader", "GET", "/pages/1", "", "Cookie", "wiki_session=mine")
	if n, _ := a.count(); p.Status != 200 || n != 1 || private(p) || !strings.Contains(p.Body, "wiki_session=sess1") || strings.Contains(p.Body, "mine") {
		t.Fatalf("R12 a read: %d %s after %d sign-ins", p.Status, p.Body, n)
	}
	p = r.do("writer", "POST", "/pages", `{"text":"one"}`)
	if n, pages := a.count(); p.Status != 201 || p.Header.Get("Location") != "/pages/1" || n != 1 || pages != 1 {
		t.Errorf("R12 a write: %d %s, %d sign-ins, %d pages", p.Status, p.Body, n, pages)
	}
	for _, name := range []string{"token", "Token", "token[]"} {
		if p := r.do("writer", "POST", "/pages", fmt.Sprintf(`{"text":"x",%q:"c1"}`, name)); p.Status != 400 {
			t.Errorf("R12 a client's own token: %d %s", p.Status, p.Body)
		}
	}
	t.Run("R12 a write whose session is over is repeated once", func(t *testing.T) {
		a.set(func() { a.session += 10 })
		p := r.do("writer", "POST", "/pages", `{"text":"two"}`)
		if n, pages := a.count(); p.Status != 201 || n != 2 || pages != 2 || private(p) {
			t.Errorf("%d %s, %d sign-ins, %d pages", p.Status, p.Body, n, pages)
		}
	})
	t.Run("R12 one sign-in for all requests", func(t *testing.T) {
		r.token("reader")
		a.set(func() { a.session += 10 })
		before, _ := a.count()
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				if p := r.do("reader", "GET", "/pages/1", ""); p.Status != 200 {
					t.Errorf("%d %s", p.Status, p.Body)
				}
			})
		}
		wait.Wait()
		if n, _ := a.count(); n != before+1 {
			t.Errorf("%d sign-ins", n-before)
		}
	})
	t.Run("R12 an answer that is longer than what is held", func(t *testing.T) {
		if p := r.do("reader", "GET", "/pages/1/long", ""); p.Status != 200 || len(p.Body) < 200_000 {
			t.Errorf("%d, %d bytes", p.Status, len(p.Body))
		}
	})
	t.Run("R12 a session that does not help is not renewed again and again", func(t *testing.T) {
		a.set(func() { a.deny = true })
		before, _ := a.count()
		for range 5 {
			if p := r.do("reader", "GET", "/pages/1", ""); p.Status != 422 || private(p) {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		}
		a.set(func() { a.deny = false })
		if n, _ := a.count(); n-before > 3 {
			t.Errorf("%d sign-ins for 5 requests", n-before)
		}
	})
}

func TestUpstreamSessionSurvivesAReload(t *testing.T) { // R12
	a, r := startWiki(t)
	r.do("reader", "GET", "/pages/1", "")
	r.Load(t, strings.Replace(site, "scope read \"Read\"", "scope read \"Read it\"", 1))
	if p := r.do("reader", "GET", "/pages/1", ""); p.Status != 200 {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if n, _ := a.count(); n != 1 {
		t.Errorf("%d sign-ins", n)
	}
}

func TestUpstreamSessionEndsWithItsConfiguration(t *testing.T) { // R12: else each password ever used stays in memory
	a := new(signedWiki)
	u := harness.NewUpstream(t)
	u.Answer(a.ServeHTTP)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(wikiPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		t.Run(fmt.Sprint("R12 run ", n), func(t *testing.T) { // the gateway ends with the subtest
			r := start(t, u.Addr, strings.ReplaceAll(signsIn, "FILE", file))
			p := r.do("reader", "GET", "/pages/1", "")
			if signIns, _ := a.count(); p.Status != 200 || signIns != n {
				t.Errorf("%d %s after %d sign-ins", p.Status, p.Body, signIns)
			}
		})
	}
}

func TestFailedUpstreamSignInIsNotRetriedAtOnce(t *testing.T) { // R12: the account would be locked out
	a, r := startWiki(t)
	a.set(func() { a.refuse = true })
	for range 5 {
		p := r.do("writer", "POST", "/pages", `{"text":"x"}`)
		if wantError(t, p, 502, "upstream_auth_failed", ""); private(p) {
			t.Errorf("%v %s", p.Header, p.Body)
		}
	}
	if n, pages := a.count(); n != 1 || pages != 0 {
		t.Errorf("%d sign-ins, %d pages", n, pages)
	}
}

func TestUnreachableUpstreamIsNotARefusal(t *testing.T) { // R12
	u := harness.NewUpstream(t)
	r := startSigned(t, "127.0.0.1:1")
	p := r.do("reader", "GET", "/pages/1", "")
	if wantError(t, p, 502, "upstream_unreachable", ""); private(p) || len(u.Hits()) > 0 {
		t.Errorf("%v %s", p.Header, p.Body)
	}
}

// A 401 where the gateway signs in itself is about its account, not about the client's token.
func TestUpstream401IsNotReportedAsTheClients(t *testing.T) { // R12
	u := harness.NewUpstream(t)
	n := 0
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/token" {
			n++
			says("application/json", fmt.Sprintf(`{"access_token":"upstream-token-%d"}`, n))(w, q)
			return
		}
		if q.Header.Get("Authorization") == "Bearer upstream-token-2" && q.URL.Path == "/things/1" {
			says("application/json", `{"id":1}`)(w, q)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="api"`)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, q.Header.Get("Authorization"))
	})
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things"}], "login": {"steps": [{"method": "POST", "upstream": "/token", "as": "json", "send": [{"name": "user", "value": "gateway"}],
		"keep": [{"from": "json", "name": "/access_token", "in": "header", "as": "Authorization", "scheme": "Bearer"}]}]}`)
	if p := r.do("reader", "GET", "/things/1", ""); p.Status != 200 || n != 2 {
		t.Errorf("%d %s after %d sign-ins", p.Status, p.Body, n)
	}
	p := r.do("reader", "GET", "/things/2", "")
	if wantError(t, p, 502, "upstream_auth_failed", ""); p.Header.Get("WWW-Authenticate") != "" || strings.Contains(p.Body, "upstream-token") {
		t.Errorf("%v %s", p.Header, p.Body)
	}
}

// Transmission gives its session's id in a header field of the 409 with which it refuses requests without one, and that
// only to who sends a password as well. Header fields of `send fixed` go with the sign-in too, but for those about the caller.
func TestSessionIDFromA409IsUsed(t *testing.T) { // R12
	u := harness.NewUpstream(t)
	var mu sync.Mutex
	id := 1
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if q.Header.Get("Authorization") != "Basic Z2F0ZTpwYXNz" || (q.Header.Get("X-Caller") == "") != (q.URL.Path == "/rpc") {
			t.Errorf("%s was sent %v", q.URL.Path, q.Header)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-Session-Id", fmt.Sprint("id", id))
		if q.Header.Get("X-Session-Id") != fmt.Sprint("id", id) {
			w.WriteHeader(http.StatusConflict)
			return
		}
		says("application/json", `{"id":1}`)(w, q)
	})
	secret := filepath.Join(t.TempDir(), "account")
	if err := os.WriteFile(secret, []byte("Z2F0ZTpwYXNz"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things"}],
		"fixed": [{"name": "Authorization", "value": "Basic {file.`+secret+`}", "in": "header"}, {"name": "X-Caller", "value": "{http.auth.user.client_id}", "in": "header"}],
		"login": {"again": [{"status": [409]}], "steps": [{"method": "GET", "upstream": "/rpc", "status": [409],
		"keep": [{"from": "header", "name": "X-Session-Id", "in": "header", "as": "X-Session-Id"}]}]}`)
	for _, method := range []string{"GET", "PUT"} {
		if p := r.do("writer", method, "/things/1", map[string]string{"PUT": `{"a":1}`}[method]); p.Status != 200 || !strings.Contains(p.Body, `{"id":1}`) || p.Header.Get("X-Session-Id") != "" {
			t.Errorf("%s: %d %v %s", method, p.Status, p.Header, p.Body)
		}
		mu.Lock()
		id++
		mu.Unlock()
	}
}

// An API may refuse a request for more than its session, such as a Host that is not its own.
func TestRefusalDespiteASessionIsLogged(t *testing.T) { // R12
	for name, c := range map[string]struct {
		again  string
		status int
	}{"a 401": {"", 502}, "what again when names": {`"again": [{"status": [403]}], `, 403}, "a 401 that it does not name": {`"again": [{"status": [403]}], `, 502}} {
		t.Run(name, func(t *testing.T) {
			u := harness.NewUpstream(t)
			u.Answer(func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path == "/login" {
					w.Header().Set("Set-Cookie", "sid=1")
					says("text/plain", "Ok.")(w, q)
					return
				}
				w.WriteHeader(map[int]int{502: 401, 403: 403}[c.status])
			})
			g := harness.Prepare(t)
			r := &rig{g, t, make(map[string]string)}
			g.StartChanged(t, strings.NewReplacer("output discard", "output file $DIR/log.json").Replace(site), r.with(u.Addr,
				`"upstream": $TO, "resources": [{"path": "things"}], "login": {`+c.again+`"steps": [{"method": "POST", "upstream": "/login", "keep": [{"from": "cookie"}],
				"expect": [{"pointer": "", "op": "==", "values": ["Ok."]}]}]}`))
			if p := r.do("reader", "GET", "/things/1", ""); p.Status != c.status {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			log, err := os.ReadFile(filepath.Join(r.Dir, "log.json"))
			if err != nil || !strings.Contains(string(log), "the API refused a request with the session that it gave to the gateway") {
				t.Errorf("%v: nothing of it in\n%s", err, log)
			}
		})
	}
}

// R12: a client that sends what is refused whatever the session is, and goes as soon as the gateway
// signs in, does not make it sign in again and again.
func TestDisconnectsDuringSignInCauseFewSignIns(t *testing.T) {
	begun, answer := make(chan bool, 100), make(chan bool, 100)
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/login" {
			begun <- true
			select {
			case <-answer:
			case <-q.Context().Done():
			}
			says("application/json", `{"t":"session"}`)(w, q)
			return
		}
		if q.URL.Path == "/things/ok" {
			says("application/json", `{"id":1}`)(w, q)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things"}], "login": {"steps": [{"method": "POST", "upstream": "/login", "keep": [{"from": "json", "name": "/t", "in": "header", "as": "X-Session"}]}]}`)
	answer <- true
	if p := r.do("reader", "GET", "/things/ok", ""); p.Status != http.StatusOK || len(begun) != 1 {
		t.Fatalf("%d %s after %d sign-ins", p.Status, p.Body, len(begun))
	}
	<-begun
	token, from, signIns := r.token("reader"), time.Now(), 0
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "GET", r.API+"/things/1", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		gone := make(chan bool)
		go func() {
			if res, err := http.DefaultClient.Do(req); err == nil {
				_ = res.Body.Close()
			}
			close(gone)
		}()
		select {
		case <-begun:
			signIns++
			cancel()
			<-gone
			answer <- true
		case <-gone: // refused without a sign-in
		}
		cancel()
	}
	if most := 7 + int(time.Since(from).Seconds()); signIns > most {
		t.Errorf("%d sign-ins, want at most %d", signIns, most)
	}
}

// R12: some APIs bind a session to the User-Agent, and to the address, that it began with, such as Tiny Tiny RSS.
func TestSessionBoundToUserAgentAndAddressIsUsed(t *testing.T) {
	var begun atomic.Value // by whom
	u := newRecorded(t, func(w http.ResponseWriter, q *http.Request) {
		from := strings.Join(q.Header.Values("User-Agent"), ",") + "/" + q.Header.Get("X-Forwarded-For") + q.Header.Get("User_Agent")
		switch {
		case q.URL.Path == "/login":
			begun.Store(from)
			says("application/json", `{"sid":"k"}`)(w, q)
		case from != begun.Load() || q.Header.Get("X-Sid") != "k":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			says("application/json", `{"id":1}`)(w, q)
		}
	})
	for fixed, want := range map[string]string{"": "Gatehouse", "send fixed header \"User-Agent=Shop 2\"": "Shop 2"} {
		g := harness.Prepare(t)
		g.Start(t, worded("to {\n reverse_proxy "+u.Addr+" {\n header_up -X-Forwarded-For\n }\n }\n"+fixed+`
			login {
				POST /login user=gw
				keep json /sid as header X-Sid
			}
			resource things
`))
		r := &rig{g, t, make(map[string]string)}
		for _, agent := range []string{"curl/8", "Mozilla/5.0", ""} {
			for _, path := range []string{"/things/1", "/things"} {
				body, method := "", http.MethodGet
				if path == "/things" {
					body, method = `{"a":1}`, http.MethodPost
				}
				p := r.do("writer", method, path, body, "User-Agent", agent, "User_Agent", agent)
				for _, hit := range u.Hits() {
					if p.Status/100 != 2 || hit.Header.Get("User-Agent") != want {
						t.Errorf("%s %s as %q: %d %s, sent by %q", method, path, agent, p.Status, p.Body, hit.Header.Get("User-Agent"))
					}
				}
			}
		}
		if by := begun.Load(); by != want+"/" {
			t.Errorf("the sign-in was sent by %q, want %q", by, want)
		}
	}
}
