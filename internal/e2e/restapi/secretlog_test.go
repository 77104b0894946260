package restapi

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// logging is the site with a log in a file, of all that Caddy can log.
func logging(file string) string {
	return strings.Replace(site, "\tlog {\n\t\toutput discard\n\t}", "\tlog {\n\t\toutput file "+file+"\n\t\tlevel DEBUG\n\t}\n\tservers {\n\t\tlog_credentials\n\t}", 1)
}

func startLogging(t *testing.T, upstream, members string) (r *rig, logged func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log")
	text := logging(file)
	if text == site {
		t.Fatal("the site has no log to replace")
	}
	r = &rig{harness.Prepare(t), t, make(map[string]string)}
	r.StartChanged(t, text, r.with(upstream, members))
	return r, func() string {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil || len(data) == 0 {
			t.Fatalf("the log has %d bytes: %v", len(data), err)
		}
		return string(data)
	}
}

// Errors of the API are what the log tells of most: the proxy logs the request that it made.
func TestSecretsAreNotInTheLog(t *testing.T) { // R11, R12
	harness.OnEachProxy(t, secretsAreNotInTheLog)
}

func secretsAreNotInTheLog(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("fixed-s3cr3t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	answers := map[string]http.HandlerFunc{
		"/things/error": func(w http.ResponseWriter, q *http.Request) {
			http.Error(w, "cannot serve "+q.RequestURI+q.Header.Get("X-Api-Key"), http.StatusInternalServerError)
		},
		"/things/broken": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"id":`)
		},
		"/things/gone":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"/things/notjson": func(w http.ResponseWriter, q *http.Request) { says("application/json", q.RequestURI)(w, q) },
		"/things/redirect": func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, "https://www.example"+q.RequestURI, http.StatusFound)
		},
	}
	u := harness.NewUpstream(t)
	signInWith := func(token http.HandlerFunc) {
		u.Answer(func(w http.ResponseWriter, q *http.Request) {
			switch answer := answers[strings.TrimPrefix(q.URL.Path, "/v2")]; {
			case strings.HasSuffix(q.URL.Path, "/token"):
				token(w, q)
			case answer != nil:
				answer(w, q)
			default:
				says("application/json", `{"id":1}`)(w, q)
			}
		})
	}
	const arrives = "/things/arrives"
	answers[arrives] = func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("X-Api-Key") != "fixed-s3cr3t" || q.Header.Get("X-Session") != "header-s3cr3t" || q.Header.Get("Authorization") != "Bearer login-s3cr3t" ||
			q.Header.Get("Cookie") != "sid=cookie-s3cr3t" || q.URL.RawQuery != "key=fixed-s3cr3t&at=login-s3cr3t" {
			t.Errorf("the API was sent %s %v", q.RequestURI, q.Header)
			w.WriteHeader(http.StatusTeapot)
		}
		w.Header().Set("Set-Cookie", "sid=another-s3cr3t")
		says("application/json", `{"id":1}`)(w, q)
	}
	members := `"upstream": $TO, "fixed": [{"name": "key", "value": "{file.FILE}"}, {"name": "X-Api-Key", "value": "{file.FILE}", "in": "header"}],
		"login": {"steps": [{"method": "POST", "upstream": "/token", "send": [{"name": "password", "value": "{file.FILE}"}],
			"keep": [{"from": "header", "name": "X-Session", "in": "header", "as": "X-Session"}, {"from": "json", "name": "/access_token", "in": "query", "as": "at"}, {"from": "json", "name": "/access_token", "in": "header", "as": "Authorization", "scheme": "Bearer"}, {"from": "cookie"}]}]},
		"resources": [{"path": "things", "item": "", "rename": {"id": "id"}}]`
	members = strings.ReplaceAll(members, "FILE", secret)
	for name, to := range map[string]string{
		"R11 errors of the API": "$TO",
		"R11 errors of an API whose addresses are rewritten": `[{"match": [{"path": ["/*"]}], "handle": [{"handler": "subroute", "routes": [{"handle": [{"handler": "rewrite", "uri": "/v2{http.request.uri}"}]},
			{"handle": [{"handler": "reverse_proxy", "upstreams": [{"dial": "` + u.Addr + `"}]}]}]}]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			signInWith(func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Set-Cookie", "sid=cookie-s3cr3t")
				w.Header().Set("X-Session", "header-s3cr3t")
				says("application/json", `{"access_token":"login-s3cr3t"}`)(w, q)
			})
			r, logged := startLogging(t, u.Addr, strings.Replace(members, "$TO", to, 1))
			for path := range answers {
				if p := r.do("reader", "GET", path, ""); path != arrives && p.Status < 400 {
					t.Errorf("%s: %d %s", path, p.Status, p.Body)
				}
			}
			if p := r.do("reader", "GET", arrives, "", "X-Api-Key", "the client's", "X-Session", "the client's"); p.Status != 200 || p.Header.Get("Set-Cookie") != "" {
				t.Errorf("%d %v %s", p.Status, p.Header, p.Body)
			}
			// This one api_proxy hands to a reverse_proxy.
			if p := r.do("reader", "GET", arrives, "", "Connection", "Upgrade", "Upgrade", "websocket"); p.Status != 200 {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			text := logged()
			noSecret(t, text)
			logs := []string{`"msg":"upstream roundtrip"`, `"msg":"aborting with incomplete response"`}
			if harness.Proxy() == harness.OwnProxy {
				logs = []string{`"msg":"the answer ends too early"`}
			}
			for _, line := range logs {
				if !strings.Contains(text, line) {
					t.Errorf("the log has no %s", line)
				}
			}
		})
	}
	t.Run("R12 a sign-in that breaks off", func(t *testing.T) {
		signInWith(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"access_token":"login-s3cr3t`)
		})
		r, logged := startLogging(t, u.Addr, members)
		if p := r.do("reader", "GET", "/things/1", ""); p.Status != http.StatusBadGateway {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		noSecret(t, logged())
	})
	t.Run("R12 a sign-in that is refused", func(t *testing.T) {
		signInWith(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "bad password fixed-s3cr3t", http.StatusForbidden)
		})
		r, logged := startLogging(t, u.Addr, members)
		if p := r.do("reader", "GET", "/things/1", ""); p.Status != http.StatusBadGateway {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		noSecret(t, logged())
	})
}

func noSecret(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, "s3cr3t") {
			t.Errorf("in the log: %s", line)
		}
	}
}
