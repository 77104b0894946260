package restapi

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// recorded is an upstream that keeps the bodies it gets.
type recorded struct {
	*harness.Upstream
	bodies []string
}

func newRecorded(t *testing.T, answer http.HandlerFunc) *recorded {
	u := &recorded{Upstream: harness.NewUpstream(t)}
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u.bodies = append(u.bodies, string(body))
		answer(w, r)
	})
	return u
}

// last is the only request since the last time, and its body.
func (u *recorded) last(t *testing.T) (*http.Request, string) {
	t.Helper()
	hits := u.Hits()
	if len(hits) != 1 || len(u.bodies) != 1 {
		t.Fatalf("%d requests reached the upstream", len(hits))
	}
	body := u.bodies[0]
	u.bodies = nil
	return hits[0], body
}

func says(media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, body)
	}
}

const spoken = `"upstream": $TO, "resources": [{
	"path": "things", "id": "/id", "rename": {"name": "n"},
	"routes": [
		{"method": "GET", "path": "/things/{id:.+}", "upstream": "/t/{id}/x.php?k={id}&fix=a%26b"},
		{"method": "POST", "path": "/things", "upstream": "/t", "as": "form"},
		{"method": "PUT", "path": "/things/{id}", "upstream": "/t/{id}", "upstream_method": "POST", "as": "json", "override": true},
		{"method": "PATCH", "path": "/things/{id}", "upstream": "/t/{id}", "as": "multipart"},
		{"method": "POST", "path": "/things/{id}/copies", "upstream": "/t/{id}/copy"}
	]
}, {"path": "files"}]`

func TestUpstreamGetsOnlyWhatIsDeclared(t *testing.T) {
	u := newRecorded(t, says("application/json", `{"id":1,"n":"x"}`))
	r := start(t, u.Addr, spoken)
	t.Run("values are escaped for their place", func(t *testing.T) {
		for path, want := range map[string]string{
			"/things/1":                  "/t/1/x.php?k=1&fix=a%26b",
			"/things/a%20b%26c=d%3Fe%23": "/t/a%20b&c=d%3Fe%23/x.php?k=a%20b%26c%3Dd%3Fe%23&fix=a%26b",
			"/things/%E6%96%87":          "/t/%E6%96%87/x.php?k=%E6%96%87&fix=a%26b",
		} {
			if p := r.do("reader", http.MethodGet, path, ""); p.Status != 200 || p.Body != `{"id":1,"name":"x"}` {
				t.Fatalf("%s: %d %s", path, p.Status, p.Body)
			}
			if hit, _ := u.last(t); hit.RequestURI != want {
				t.Errorf("%s: %s, want %s", path, hit.RequestURI, want)
			}
		}
	})
	t.Run("a read is translatable and has no body", func(t *testing.T) {
		r.do("reader", http.MethodGet, "/things/1", `{}`, "Accept-Encoding", "gzip, br", "Range", "bytes=0-3", "If-None-Match", `"x"`,
			"X-HTTP-Method-Override", "DELETE", "X-Method-Override", "DELETE", "Accept", "text/html", "X-Own", "y")
		hit, body := u.last(t)
		h := hit.Header
		if body != "" || h.Get("Content-Type") != "" || h.Get("Accept-Encoding") != "identity" || h.Get("Range") != "" || h.Get("If-None-Match") != "" ||
			h.Get("X-Http-Method-Override") != "" || h.Get("X-Method-Override") != "" || h.Get("Accept") != "application/json" || h.Get("X-Own") != "y" ||
			h.Get("X-Auth-Client") != "reader" || h.Get("Authorization") != "" || h.Get("X-Forwarded-For") == "" {
			t.Errorf("%q %v", body, h)
		}
	})
	t.Run("bodies in the upstream's form", func(t *testing.T) {
		const body = `{"name":"a&b=ü","n2":12345678901234567890,"on":true,"off":false,"none":null,"tags":["x","y z"],"at":{"lat":1.50,"q":[{"r":1}]}}`
		for _, c := range []struct{ method, path, media, want, override string }{
			{"POST", "/things", "application/x-www-form-urlencoded",
				"n=a%26b%3D%C3%BC&n2=12345678901234567890&on=1&off=0&none=&tags%5B%5D=x&tags%5B%5D=y+z&at%5Blat%5D=1.50&at%5Bq%5D%5B0%5D%5Br%5D=1", ""},
			{"PUT", "/things/1", "application/json", strings.Replace(body, `"name"`, `"n"`, 1), "PUT"},
		} {
			if p := r.do("writer", c.method, c.path, body); p.Status != map[string]int{"POST": 201, "PUT": 200}[c.method] {
				t.Fatalf("%d %s", p.Status, p.Body)
			}
			hit, got := u.last(t)
			if got != c.want || hit.Header.Get("Content-Type") != c.media || hit.Header.Get("X-Http-Method-Override") != c.override || hit.ContentLength != int64(len(got)) {
				t.Errorf("%s %v\n%s\nwant\n%s", hit.Method, hit.Header, got, c.want)
			}
		}
		r.do("writer", http.MethodPatch, "/things/1", `{"name":"a\r\n--x","n2":1}`)
		hit, got := u.last(t)
		if hit.Method != http.MethodPatch || !strings.HasPrefix(hit.Header.Get("Content-Type"), "multipart/form-data; boundary=") ||
			strings.Count(got, "form-data; name=") != 2 || !strings.Contains(got, "name=\"n\"\r\n\r\na\r\n--x\r\n") {
			t.Errorf("%v %s", hit.Header, got)
		}
	})
	t.Run("a resource without routes passes to its own path, bodies as they are", func(t *testing.T) {
		p := r.do("writer", http.MethodPut, "/files/a@b.png", "\x89PNG", "Content-Type", "image/png", "If-Match", `"x"`)
		hit, body := u.last(t)
		if p.Status != 200 || p.Body != `{"id":1,"n":"x"}` || hit.Method != http.MethodPut || hit.RequestURI != "/files/a@b.png" || body != "\x89PNG" ||
			hit.Header.Get("Content-Type") != "image/png" || hit.Header.Get("If-Match") == "" {
			t.Errorf("%d %s: %s %s %q %v", p.Status, p.Body, hit.Method, hit.RequestURI, body, hit.Header)
		}
	})
	t.Run("other actions", func(t *testing.T) {
		if p := r.do("writer", http.MethodPost, "/things/7/copies", ""); p.Status != 200 {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		if hit, body := u.last(t); hit.RequestURI != "/t/7/copy" || body != "" {
			t.Errorf("%s %q", hit.RequestURI, body)
		}
	})
	t.Run("errors name members as clients do", func(t *testing.T) {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"message":"too long","field":"n"}`)
		})
		wantError(t, r.do("writer", http.MethodPost, "/things", `{"name":"x"}`), 400, "invalid_parameter", "name")
	})
}

func TestDotSegmentIDsAreNotFound(t *testing.T) {
	u := newRecorded(t, says("application/json", `{}`))
	r := start(t, u.Addr, `"undeclared": "pass", `+spoken)
	for _, path := range []string{"/things/%2e%2e", "/things/..%2f..%2fadmin", "/things/a%5C..%5Cb", "/things/%00", "/things/a%0Ab", "/things/%ff"} {
		p := harness.Wire(t, r.API, "GET "+path, "Authorization: Bearer "+r.token("reader"))
		if p.Status != 404 && p.Status != 400 {
			t.Errorf("%s: %d %s", path, p.Status, p.Body)
		}
	}
	if hits := u.Hits(); len(hits) != 0 {
		t.Errorf("%v", hits[0].RequestURI)
	}
}
