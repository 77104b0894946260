package restapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestWithoutResourcesEverythingPasses(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO`)
	if p := r.do("writer", http.MethodPost, "/any/Thing.php?x=1&x=2", "body"); p.Status != 200 || p.Body != `{"ok":true}` {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if hits := u.Hits(); len(hits) != 1 || hits[0].RequestURI != "/any/Thing.php?x=1&x=2" {
		t.Errorf("%v", hits)
	}
	u.Answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such thing", 404) })
	wantError(t, r.do("reader", http.MethodGet, "/any", ""), 404, "not_found", "")
}

func TestUndeclaredPathsPassOnlyWhereAllowed(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	wantError(t, r.do("reader", http.MethodGet, "/other", ""), 404, "not_found", "")
	if n := len(u.Hits()); n != 0 {
		t.Error("it was sent")
	}
	r.ChangeConfigs(r.with(u.Addr, `"undeclared": "pass", `+listed))
	r.Load(t, site)
	if p := r.do("reader", http.MethodGet, "/other?q=%3b", ""); p.Status != 200 || u.Hits()[0].RequestURI != "/other?q=%3b" {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantError(t, r.do("writer", http.MethodPut, "/things", "{}"), 405, "method_not_allowed", "")
}

// alone has neither api_errors nor a guard in front of the handler.
const alone = "{\n" + harness.Quiet + `
}
http://$API {
	handle_path /api/* {
		respond API_REST
	}
}
`

func TestStandaloneRestWritesErrorsItself(t *testing.T) {
	u := harness.NewUpstream(t)
	g := harness.Prepare(t)
	r := &rig{g, t, nil}
	g.StartChanged(t, alone, r.with(u.Addr, listed))
	wantError(t, r.do("", http.MethodGet, "/api/other", ""), 404, "not_found", "")
	wantError(t, r.do("", http.MethodGet, "/api/things?page=x", ""), 400, "invalid_parameter", "page")
	u.Hits()
	u.Answer(says("application/json", `{"r":{"id":"a b"}}`))
	r.do("", http.MethodGet, "/api/things/1", "", "X-HTTP-Method-Override", "DELETE", "X_Http_Method", "DELETE", "X-METHOD_override", "DELETE", "X-Own", "y")
	if hits := u.Hits(); len(hits) != 1 || hits[0].Header.Get("X-Own") != "y" || strings.Contains(fmt.Sprint(hits[0].Header), "DELETE") {
		t.Errorf("%v", hits[0].Header)
	}
	if p := r.do("", http.MethodGet, "/api/things/1", ""); p.Body != `{"id":"a b","links":[{"rel":"self","method":"GET","href":"/api/things/a%20b"}]}` {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	u.Answer(says("application/json", `{"r":NaN}`))
	wantError(t, r.do("", http.MethodGet, "/api/things/1", ""), 502, "upstream_error", "")
	if n := r.Metric(t, `caddy_gatehouse_rest_translation_failures_total{reason="syntax"}`); n < 1 {
		t.Errorf("counted %v", n)
	}
	u.Answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "in /var/www/x.php", 500) })
	p := r.do("", http.MethodGet, "/api/things/1", "")
	wantError(t, p, 500, "upstream_error", "")
	if strings.Contains(p.Body, "php") {
		t.Error(p.Body)
	}
	r.ChangeConfigs(r.with("127.0.0.1:1", listed))
	r.Load(t, alone)
	wantError(t, r.do("", http.MethodGet, "/api/things/1", ""), 502, "upstream_unreachable", "")
	if p := r.do("", http.MethodHead, "/api/things/1", ""); p.Status != 502 || p.Body != "" {
		t.Errorf("HEAD: %d %s", p.Status, p.Body)
	}
}

func TestTwoHandlersHaveSeparateResources(t *testing.T) {
	u := harness.NewUpstream(t)
	g := harness.Prepare(t)
	r := &rig{g, t, nil}
	first, second := r.with(u.Addr, listed), r.with(u.Addr, `"upstream": $TO, "resources": [{"path": "others"}]`)
	two := strings.TrimSuffix(alone, "}\n") + "\thandle_path /b/* {\n\t\trespond API_REST\n\t}\n}\n"
	g.StartChanged(t, two, func(config []byte) []byte { return second(first(config)) })
	for path, want := range map[string]int{"/api/others": 404, "/b/others": 200, "/b/things": 404} {
		if p := r.do("", http.MethodGet, path, ""); p.Status != want {
			t.Errorf("%s: %d %s", path, p.Status, p.Body)
		}
	}
}

func TestNextHandlerIsTheDefaultUpstream(t *testing.T) {
	u := harness.NewUpstream(t)
	g := harness.Prepare(t)
	r := &rig{g, t, nil}
	g.StartChanged(t, strings.Replace(alone, "respond API_REST", "route {\n\t\t\trespond API_REST\n\t\t\treverse_proxy "+u.Addr+"\n\t\t}", 1),
		r.with(u.Addr, strings.Replace(listed, `"upstream": $TO, `, "", 1)))
	u.Answer(says("application/json", `{"r":{"id":1}}`))
	if p := r.do("", http.MethodGet, "/api/things/1", ""); p.Status != 200 || !strings.HasPrefix(p.Body, `{"id":1,"links"`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

func TestRequestInFlightKeepsItsConfiguration(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	begun, proceed := make(chan bool), make(chan bool)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		begun <- true
		<-proceed
		says("application/json", `{"r":{"id":1}}`)(w, q)
	})
	body := make(chan string)
	go func() {
		req, _ := http.NewRequest(http.MethodGet, r.API+"/things/1", nil)
		req.Header.Set("Authorization", "Bearer "+r.token("reader"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			body <- err.Error()
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		body <- string(b)
	}()
	<-begun
	for range 3 {
		r.Load(t, site)
	}
	close(proceed)
	select {
	case b := <-body:
		if !strings.HasPrefix(b, `{"id":1,`) {
			t.Error(b)
		}
	case <-time.After(10 * time.Second):
		t.Error("no answer")
	}
}

func TestInvalidConfigsAreRefusedByOption(t *testing.T) {
	g := harness.Prepare(t)
	r := &rig{g, t, nil}
	for members, want := range map[string]string{
		`"undeclared": "maybe"`: "undeclared maybe: expected deny or pass",
		`"lint": "x"`:           "lint x: expected off, warn or error",
		`"max_body": -1`:        "max_body -1",
		`"resources": [{"path": "a", "item": "r"}]`:                                                                   "expected one that begins with /",
		`"resources": [{"path": "a", "rename": {"x": "y", "z": "y"}}]`:                                                "y has the name",
		`"resources": [{"path": "a", "values": {"x": {"a": "1", "b": "1"}}}]`:                                         "both stand for 1",
		`"resources": [{"path": "a", "created": {"status": 200}}]`:                                                    "expected 201",
		`"resources": [{"path": "a", "deleted": 200}]`:                                                                "expected 204",
		`"resources": [{"path": "a"}, {"path": "a"}]`:                                                                 "GET /a is declared twice",
		`"resources": [{"path": "a", "batch": ["t"], "routes": [{"method": "GET", "path": "/a", "upstream": "/a"}]}]`: "expected an upstream for PATCH /a/{id}",
		`"resources": [{"path": "a", "routes": [{"method": "HEAD", "path": "/a", "upstream": "/a"}]}]`:                "expected GET, POST, PUT, PATCH, DELETE",
		`"resources": [{"path": "a", "routes": [{"method": "GET", "path": "/b", "upstream": "/a"}]}]`:                 "expected a path of the resource, /a",
		`"resources": [{"path": "a", "routes": [{"method": "GET", "path": "/a/{id}", "upstream": "/a?x={aid}"}]}]`:    "{aid}: expected a placeholder of the client's path: {id}",
		`"resources": [{"path": "a", "routes": [{"method": "GET", "path": "/a/{id}", "upstream": "/a?{id}=1"}]}]`:     "in a value, not in a name",
		`"resources": [{"path": "a", "routes": [{"method": "GET", "path": "/a/x{id}", "upstream": "/a"}]}]`:           "expected a word of letters",
		`"resources": [{"path": "a", "routes": [{"method": "GET", "path": "/a", "upstream": "a"}]}]`:                  "expected a path and query",
		`"resources": [{"path": "a", "routes": [{"method": "GET", "path": "/a", "upstream": "/a", "as": "yaml"}]}]`:   "expected form, json, multipart or xml",
		`"resources": [{"path": "a", "routes": [{"method": "GET", "path": "/a", "upstream": "http://h/a"}]}]`:         "expected a path and query",
		`"resources": [{"path": "a", "routes": [{"method": "GET", "path": "/a", "upstream": "//h/a"}]}]`:              "it is not one, expected a path",
		`"resources": [{"path": "a", "routes": [{"method": "GET", "path": "/a/{id}", "upstream": "/x/../{id}"}]}]`:    "it is not one, expected a path",
		`"errors": {"fail_when": [{"pointer": "/x", "op": "~", "status": 422}]}`:                                      "fail_when",
		`"jobs": [{"path": "x-jobs", "upstream": "/x"}]`:                                                              "expected `to`",
	} {
		g.ChangeConfigs(r.with("127.0.0.1:1", members))
		if err := g.TryLoad(alone); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", members, err, want)
		}
	}
}
