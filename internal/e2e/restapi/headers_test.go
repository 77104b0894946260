package restapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// talkative are fields that an upstream sends about itself, its addresses and its own clients.
var talkative = http.Header{
	"Server": {"Apache/2.4.66 (Debian)"}, "X-Powered-By": {"PHP/8.4.1"}, "Set-Cookie": {"PHPSESSID=secret; Path=/"}, "Refresh": {"0; url=http://10.0.1.20/login"},
	"Link": {`<http://10.0.1.20/wp-json/>; rel="https://api.w.org/"`}, "Allow": {"GET, PURGE"}, "Access-Control-Allow-Origin": {"*"},
	"Content-Disposition": {`inline; filename="f.txt"`}, "X-Wp-Total": {"7"}, "Via": {"1.1 internal-proxy"}, "Deprecation": {"@1"},
}

const leaving = `"upstream": $TO, "resources": [
	{"path": "things", "item": "/r", "pass": ["text/csv"], "idempotency": true},
	{"path": "tagged", "item": "/r", "etag": true},
	{"path": "plain"},
	{"path": "named", "header_down": ["Set-Cookie", "X-WP-*", "Content-Disposition"], "header_up": ["Cookie"]},
	{"path": "open", "header_down": ["*"]}
]`

func TestUpstreamHeadersAreFiltered(t *testing.T) { // R07
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, leaving)
	passed := func(p harness.Page) (names []string) {
		for name := range talkative {
			for _, value := range p.Header[name] {
				if value == talkative[name][0] || strings.Contains(value, "internal-proxy") {
					names = append(names, name)
				}
			}
		}
		return names
	}
	for _, c := range []struct {
		name, method, path, media string
		status                    int
		body                      string
		want                      int
		passes                    int
	}{
		{"R07 an item", "GET", "/things/1", "application/json", 200, `{"r":{"id":1}}`, 200, 0},
		{"R07 an item with a tag", "GET", "/tagged/1", "application/json", 200, `{"r":{"id":1}}`, 200, 0},
		{"R07 an item that passes", "GET", "/plain/1", "application/json", 200, `{"id":1}`, 200, 0},
		{"R07 a list", "GET", "/plain", "application/json", 200, `[{"id":1}]`, 200, 0},
		{"R07 a creation", "POST", "/things", "application/json", 200, `{"r":{"id":1}}`, 201, 0},
		{"R07 a deletion", "DELETE", "/things/1", "application/json", 200, `{}`, 204, 0},
		{"R07 a batch", "PATCH", "/plain", "application/json", 200, `{"id":1}`, 200, 0},
		{"R07 HEAD", "HEAD", "/plain/1", "application/json", 200, "", 200, 0},
		{"R07 an error", "GET", "/things/1", "text/html", 404, "<h1>no</h1>", 404, 0},
		{"R07 an error that has the form", "GET", "/things/1", "application/json", 409, `{"error":{"code":"conflict","message":"x","field":null}}`, 409, 0},
		{"R07 an answer that cannot be read", "GET", "/things/1", "application/json", 200, `{"r":`, 502, 0},
		{"R07 an answer that is no JSON", "GET", "/things/1", "text/html", 200, "<p>sign in", 502, 0},
		{"R07 a download", "GET", "/things/1", "text/csv", 200, "a,b\n", 200, 1},
		{"R07 fields that are named", "GET", "/named/1", "application/json", 200, `{"id":1}`, 200, 3},
		{"R07 all fields", "GET", "/open/1", "application/json", 200, `{"id":1}`, 200, len(talkative)},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range talkative {
					w.Header()[name] = values
				}
				w.Header().Set("Content-Type", c.media)
				w.Header().Set("X-Request-Id", "77")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			body := ""
			if c.method == "POST" {
				body = `{"id":1}`
			} else if c.method == "PATCH" {
				body = `[{"id":1,"op":"replace","path":"/a","value":1}]`
			}
			p := r.do("writer", c.method, c.path, body, "Idempotency-Key", c.name)
			if got := passed(p); p.Status != c.want || len(got) != c.passes {
				t.Errorf("%d, want %d; passed %v, want %d of them: %v", p.Status, c.want, got, c.passes, p.Header)
			}
			if c.status == c.want && c.method != "PATCH" && p.Header.Get("X-Request-Id") != "77" {
				t.Errorf("the request id is gone: %v", p.Header)
			}
		})
	}
	t.Run("R07 an address that the API does not know the method of", func(t *testing.T) {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", "PURGE")
			w.WriteHeader(http.StatusMethodNotAllowed)
		})
		if p := r.do("reader", "GET", "/plain/1", ""); p.Status != 405 || p.Header.Get("Allow") != "DELETE, HEAD, OPTIONS, PATCH, PUT" {
			t.Errorf("%d %v", p.Status, p.Header)
		}
	})
	t.Run("R07 trailers and early hints", func(t *testing.T) {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "<http://10.0.1.20/x.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Link")
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Trailer", "X-Node, Digest")
			_, _ = io.WriteString(w, `{"r":{"id":1}}`)
			_ = http.NewResponseController(w).Flush()
			w.Header().Set("X-Node", "10.0.1.20")
			w.Header().Set("Digest", "d")
			w.Header().Set(http.TrailerPrefix+"X-Late", "10.0.1.20")
		})
		for path, want := range map[string]string{"/things/1": "", "/tagged/1": "", "/plain/1": "d"} { // of the API's bytes
			p := harness.Wire(t, r.API, "GET "+path, "Authorization: Bearer "+r.token("reader"), "Connection: close")
			if text := fmt.Sprint(p.Header, p.Body); p.Status != 200 || strings.Contains(text, "10.0.1.20") {
				t.Errorf("%s: %d %s", path, p.Status, text)
			}
			res := r.open(t.Context(), "reader", http.MethodGet, path)
			_, _ = io.ReadAll(res.Body)
			if res.StatusCode != 200 || strings.Contains(fmt.Sprint(res.Header, res.Trailer), "10.0.1.20") || res.Trailer.Get("Digest") != want {
				t.Errorf("%s: %v %v", path, res.Header, res.Trailer)
			}
		}
	})
	t.Run("R07 the client's cookies", func(t *testing.T) {
		u.Answer(nil)
		for _, c := range []struct{ method, path, want string }{
			{"GET", "/things/1", ""}, {"GET", "/plain", ""}, {"PATCH", "/plain", ""}, {"DELETE", "/plain/1", ""}, {"GET", "/named/1", "session=1"},
		} {
			u.Hits()
			body := ""
			if c.method == "PATCH" {
				body = `[{"id":1,"op":"replace","path":"/a","value":1}]`
			}
			r.do("writer", c.method, c.path, body, "Cookie", "session=1")
			if hits := u.Hits(); len(hits) != 1 || hits[0].Header.Get("Cookie") != c.want {
				t.Errorf("%s %s: the API saw %d requests, %v", c.method, c.path, len(hits), hits)
			}
		}
	})
}

// What handlers in front have set is the gateway's own, and stays.
func TestFieldsSetByEarlierHandlersStay(t *testing.T) { // R07
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Site", "theirs")
		w.Header().Set("X-Own", "theirs")
		says("application/json", `{"id":1}`)(w, nil)
	})
	const front = "\toauth_guard {\n"
	r := startIn(t, front, "\theader X-Own ours\n\theader >X-Late ours\n"+front, u.Addr, `"upstream": $TO, "header_down": ["X-Site"], "resources": [{"path": "things"}]`)
	p := r.do("reader", "GET", "/things/1", "")
	if p.Status != 200 || strings.Join(p.Header["X-Own"], " ") != "ours" || p.Header.Get("X-Late") != "ours" || p.Header.Get("X-Site") != "theirs" {
		t.Errorf("%d %v", p.Status, p.Header)
	}
}

// Without a resource, and where nothing is declared, answers pass as they are.
func TestUndeclaredAnswersKeepTheirHeaders(t *testing.T) { // R07
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Powered-By", "PHP")
		says("application/json", `{"id":1}`)(w, nil)
	})
	r := start(t, u.Addr, `"upstream": $TO, "undeclared": "pass", "resources": [{"path": "things"}]`)
	if p := r.do("reader", "GET", "/other", "", "Cookie", "a=b"); p.Status != 200 || p.Header.Get("X-Powered-By") != "PHP" || u.Hits()[0].Header.Get("Cookie") != "a=b" {
		t.Errorf("%d %v", p.Status, p.Header)
	}
}
