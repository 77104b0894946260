package restapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// shelf is an API of JSON-RPC that keeps articles. Like some servers it gives all its answers one tag,
// which says nothing of articles.
type shelf struct {
	mu       sync.Mutex
	articles map[string]string // subject by id
	called   []string
	fields   []string // conditions that reached it
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var call struct {
		Method string
		Params []string
	}
	_ = json.NewDecoder(r.Body).Decode(&call)
	s.called = append(s.called, call.Method)
	for _, name := range []string{"If-Match", "If-None-Match", "If-Unmodified-Since"} {
		if v := r.Header.Get(name); v != "" {
			s.fields = append(s.fields, name+": "+v)
		}
	}
	if len(call.Params) == 0 {
		call.Params = []string{""}
	}
	id := call.Params[0]
	subject, known := s.articles[id]
	article := func() string { return fmt.Sprintf(`"result":{"id":%q,"subject":%q}`, id, s.articles[id]) }
	answer := `"error":{"code":17,"message":"No such article"}`
	switch {
	case call.Method == "article.list":
		answer = fmt.Sprintf(`"result":[{"id":"7","subject":%q}]`, s.articles["7"])
	case call.Method == "article.get" && id == "9":
		answer = `"error":{"code":12,"message":"Locked by Ann"}`
	case call.Method == "article.get" && known && subject == "":
		answer = `"result":null`
	case call.Method == "article.get" && known:
		answer = article()
	case call.Method == "article.set" && len(call.Params) == 2:
		s.articles[id] = call.Params[1]
		answer = article()
	case call.Method == "article.delete" && known:
		delete(s.articles, id)
		answer = `"result":true`
	}
	w.Header().Set("ETag", `"all"`)
	w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0",%s,"id":1}`, answer)
}

// take gives the methods that were called since the last time.
func (s *shelf) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	called := strings.Join(s.called, " ")
	s.called = nil
	return called
}

// R14: conditions on tags of an API that is called. Its own tags are about the address of all calls, so
// ours are derived from what the client sees.
func TestConditionsOnARPCUpstream(t *testing.T) {
	api := &shelf{articles: map[string]string{"7": "Maps", "8": "Tides", "5": ""}}
	u := harness.NewUpstream(t)
	u.Answer(api.ServeHTTP)
	g := harness.Prepare(t)
	g.Start(t, strings.Replace(site, "respond API_REST", `api_rest {
		to `+u.Addr+`
		resource articles {
			upstream GET    /articles      /rpc rpc article.list
			upstream GET    /articles/{id} /rpc rpc article.get [{id}]
			upstream PUT    /articles/{id} /rpc rpc article.set [{id},{body.subject}]
			upstream PATCH  /articles/{id} /rpc rpc article.set [{id},{body.subject}]
			upstream DELETE /articles/{id} /rpc rpc article.delete [{id}]
			list {
				paginate local
			}
			rename title=subject
			fail_when /error/code == 17 status 404
			etag
		}
	}`, 1))
	r := &rig{g, t, make(map[string]string)}
	tag := func(path string) string {
		t.Helper()
		p := r.do("reader", http.MethodGet, path, "")
		if api.take(); p.Status != 200 || p.Header.Get("Etag") == "" {
			t.Fatalf("%s: %d %v %s", path, p.Status, p.Header, p.Body)
		}
		return p.Header.Get("Etag")
	}
	seven, list := tag("/articles/7"), tag("/articles")
	if seven == tag("/articles/8") || seven == list {
		t.Fatalf("two resources have one tag, %s", seven)
	}
	for _, c := range []struct {
		name, method, path, body, field, value string
		status                                 int
		called                                 string
	}{
		{"nothing new", "GET", "/articles/7", "", "If-None-Match", seven, 304, "article.get"},
		{"a list that is the same", "GET", "/articles", "", "If-None-Match", list, 304, "article.list"},
		{"another tag", "GET", "/articles/7", "", "If-None-Match", `"x"`, 200, "article.get"},
		{"the tag of the API", "PATCH", "/articles/7", `{"title":"Lost"}`, "If-Match", `"all"`, 412, "article.get"},
		{"a change of what is known", "PATCH", "/articles/7", `{"title":"Charts"}`, "If-Match", seven, 200, "article.get article.set"},
		{"a change of what is no longer so", "PATCH", "/articles/7", `{"title":"Lost"}`, "If-Match", seven, 412, "article.get"},
		{"what is no longer the same", "GET", "/articles/7", "", "If-None-Match", seven, 200, "article.get"},
		{"a list that is not the same", "GET", "/articles", "", "If-None-Match", list, 200, "article.list"},
		{"a replacement of anything", "PUT", "/articles/8", `{"title":"Ebb"}`, "If-Match", `*`, 200, "article.get article.set"},
		{"a replacement of nothing", "PUT", "/articles/6", `{"title":"x"}`, "If-Match", `*`, 412, "article.get"},
		{"a replacement of what is null", "PUT", "/articles/5", `{"title":"x"}`, "If-Match", `*`, 412, "article.get"},
		{"a creation where nothing is", "PUT", "/articles/6", `{"title":"New"}`, "If-None-Match", `*`, 200, "article.get article.set"},
		{"a creation where something is", "PUT", "/articles/6", `{"title":"x"}`, "If-None-Match", `*`, 412, "article.get"},
		{"what cannot be read", "PATCH", "/articles/9", `{"title":"x"}`, "If-Match", seven, 422, "article.get"},
		{"since a date that the API does not know", "PATCH", "/articles/8", `{"title":"y"}`, "If-Unmodified-Since", "Mon, 02 Jan 2005 15:04:05 GMT", 200, "article.get article.set"},
		{"a deletion of another", "DELETE", "/articles/7", "", "If-Match", seven, 412, "article.get"},
		{"a deletion", "DELETE", "/articles/7", "", "If-Match", "CURRENT", 204, "article.get article.delete"},
		{"without a condition", "PATCH", "/articles/8", `{"title":"z"}`, "X-None", "x", 200, "article.set"},
	} {
		t.Run("R14 "+c.name, func(t *testing.T) {
			if c.value == "CURRENT" {
				c.value = tag(c.path)
			}
			p := r.do("writer", c.method, c.path, c.body, c.field, c.value)
			if called := api.take(); p.Status != c.status || called != c.called {
				t.Errorf("%d %s, and the API was called: %s; want %d, %s", p.Status, p.Body, called, c.status, c.called)
			}
			if p.Header.Get("Etag") == `"all"` || p.Header.Get("Last-Modified") != "" || c.status == 422 && !strings.Contains(p.Body, "Locked by Ann") {
				t.Errorf("%v %s", p.Header, p.Body)
			}
		})
	}
	if len(api.fields) > 0 {
		t.Errorf("conditions reached the API: %v", api.fields)
	}
}
