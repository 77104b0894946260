package restapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// sessions is an API that knows its callers by a cookie, and answers with what it was sent.
type sessions struct {
	mu      sync.Mutex
	valid   int // the session that is valid; 0: none
	signIns int
	sent    []url.Values // query and body of each request that was carried out, with its path as `:path`
	bytes   int64        // of the longest body
}

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/login" {
		s.mu.Lock()
		s.signIns++
		s.valid = s.signIns
		n := s.valid
		s.mu.Unlock()
		w.Header().Set("Set-Cookie", fmt.Sprintf("sid=%d; HttpOnly", n))
		says("application/json", fmt.Sprintf(`{"csrf":"csrf-%d"}`, n))(w, r)
		return
	}
	s.mu.Lock()
	valid := r.Header.Get("Cookie") == fmt.Sprintf("sid=%d", s.valid)
	s.mu.Unlock()
	if !valid {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	sent := r.URL.Query()
	media := r.Header.Get("Content-Type")
	length := int64(0)
	switch {
	case strings.HasPrefix(media, "application/json"):
		var object map[string]any
		_ = json.NewDecoder(r.Body).Decode(&object)
		for name, value := range object {
			sent.Add(name, fmt.Sprint(value))
		}
	case strings.HasPrefix(media, "multipart/"):
		_ = r.ParseMultipartForm(1 << 20)
		for name, values := range r.PostForm {
			sent[name] = append(sent[name], values...)
		}
	case strings.HasPrefix(media, "application/x-www-form-urlencoded"):
		_ = r.ParseForm()
		for name, values := range r.PostForm {
			sent[name] = append(sent[name], values...)
		}
	default:
		length, _ = io.Copy(io.Discard, r.Body)
	}
	sent.Set(":path", r.URL.Path)
	s.mu.Lock()
	s.sent, s.bytes = append(s.sent, sent), max(s.bytes, length)
	s.mu.Unlock()
	says("application/json", `{"id":1,"n":1}`)(w, r)
}

// expire ends the session.
func (s *sessions) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.valid = -1
}

// take gives what was sent since the last time, and the sign-ins so far.
func (s *sessions) take() (sent []url.Values, signIns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent, s.sent = s.sent, nil
	return sent, s.signIns
}

const suppliedEverywhere = `"upstream": $TO, "fixed": [{"name": "key", "value": "k"}, {"name": "mode", "value": "safe", "in": "body"}],
	"login": {"steps": [{"method": "POST", "upstream": "/login", "keep": [{"from": "cookie"}, {"from": "json", "name": "/csrf", "in": "body", "as": "csrf"}]}]},
	"resources": [
		{"path": "things", "batch": ["n"], "routes": [
			{"method": "GET", "path": "/things/{id}", "upstream": "/things/{id}"},
			{"method": "POST", "path": "/things", "upstream": "/things", "as": "form"},
			{"method": "PUT", "path": "/things/{id}", "upstream": "/things/{id}", "as": "multipart"},
			{"method": "PATCH", "path": "/things/{id}", "upstream": "/things/{id}", "as": "json"}]}],
	"jobs": [{"path": "imports", "upstream": "/import"}, {"path": "things", "upstream": "/async", "when": "preferred"}]`

// What the gateway sends itself goes with each request to the API, whoever waits for it.
func TestJobsAndBatchesIncludeGatewayParameters(t *testing.T) { // R11, R12
	api := new(sessions)
	u := harness.NewUpstream(t)
	u.Answer(api.ServeHTTP)
	r := start(t, u.Addr, suppliedEverywhere)
	for _, expired := range []bool{false, true} {
		for _, c := range []struct {
			name, method, path, body, media, prefer string
			sent                                    []string // paths, in their order
		}{
			{"a job with a body in JSON", "POST", "/imports", `{"n":1}`, "application/json", "wait=30", []string{"/import"}},
			{"a job with a form", "POST", "/imports", `n=1`, "application/x-www-form-urlencoded", "wait=30", []string{"/import"}},
			{"a job with a multipart form", "POST", "/imports", "--B\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n1\r\n--B--\r\n", "multipart/form-data; boundary=B", "wait=30", []string{"/import"}},
			{"a job instead of a POST", "POST", "/things", `{"n":1}`, "application/json", "respond-async, wait=30", []string{"/async"}},
			{"a POST that is no job", "POST", "/things", `{"n":1}`, "application/json", "", []string{"/things"}},
			{"a multipart form", "PUT", "/things/1", `{"n":1}`, "application/json", "", []string{"/things/1"}},
			{"a batch", "PATCH", "/things", `[{"id":1,"op":"replace","path":"/n","value":1},{"id":2,"op":"replace","path":"/n","value":1}]`, "application/json", "", []string{"/things/1", "/things/2"}},
		} {
			t.Run(fmt.Sprintf("R11 R12 %s, session over: %t", c.name, expired), func(t *testing.T) {
				_, before := api.take()
				if expired {
					api.expire()
				}
				header := []string{"Content-Type", c.media}
				if c.prefer != "" {
					header = append(header, "Prefer", c.prefer)
				}
				p := r.do("writer", c.method, c.path, c.body, header...)
				if p.Status > 299 || p.Status == http.StatusAccepted || strings.Contains(p.Body, `"failed"`) {
					t.Fatalf("%d %s", p.Status, p.Body)
				}
				sent, signIns := api.take()
				var paths []string
				for _, one := range sent {
					paths = append(paths, one.Get(":path"))
					delete(one, ":path")
					if want := fmt.Sprintf("csrf=csrf-%d&key=k&mode=safe&n=1", signIns); one.Encode() != want {
						t.Errorf("the API got %s, want %s", one.Encode(), want)
					}
				}
				slices.Sort(paths)
				if !slices.Equal(paths, c.sent) {
					t.Errorf("the API carried out %v, want %v", paths, c.sent)
				}
				if expired && signIns != before+1 {
					t.Errorf("%d sign-ins, want one", signIns-before)
				}
			})
		}
	}
}

// R12: what is too long to be kept is not sent again, and least of all without its beginning.
func TestOverlongBodyIsNotRetried(t *testing.T) {
	api := new(sessions)
	u := harness.NewUpstream(t)
	u.Answer(api.ServeHTTP)
	r := start(t, u.Addr, `"upstream": $TO, "max_body": 1000, "resources": [{"path": "files"}],
		"login": {"steps": [{"method": "POST", "upstream": "/login", "keep": [{"from": "cookie"}]}]}`)
	const kept, long = 1<<20 + 17*1000, 1<<20 + 17*1000 + 1
	for _, c := range []struct {
		name    string
		length  int64
		chunked bool
		status  int
	}{
		{"R12 as long as what is kept", kept, false, 201},
		{"R12 one byte more", long, false, 503},
		{"R12 without a length", 10, true, 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			send := func() harness.Page {
				req, err := http.NewRequest("POST", r.API+"/files", io.LimitReader(endlessX{}, c.length))
				if err != nil {
					t.Fatal(err)
				}
				if !c.chunked {
					req.ContentLength = c.length
				}
				req.Header.Set("Content-Type", "application/octet-stream")
				req.Header.Set("Authorization", "Bearer "+r.token("writer"))
				return harness.Do(t, harness.NewBrowser(t, "").Client, req)
			}
			api.expire()
			p := send()
			sent, _ := api.take()
			if p.Status != c.status || (p.Status == 503) != (p.Header.Get("Retry-After") != "") || (p.Status == 503) != (len(sent) == 0) {
				t.Fatalf("%d %v %s, and %d requests were carried out", p.Status, p.Header, p.Body, len(sent))
			}
			if p = send(); p.Status != 201 {
				t.Errorf("with the new session: %d %s", p.Status, p.Body)
			}
			if sent, _ = api.take(); len(sent) != 1 {
				t.Errorf("%d requests were carried out", len(sent))
			}
		})
	}
	if api.bytes != long {
		t.Errorf("%d bytes reached the API, want %d", api.bytes, long)
	}
}

// endlessX is the letter x, again and again.
type endlessX struct{}

func (endlessX) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
