package legacyrest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// validated is a client behind Prism, which compares what it sends and gets with the
// description of the API.
type validated struct {
	client
	prism *harness.Prism
}

// request is what [client.do] sends.
func (v validated) request(method, path, body string, header ...string) *http.Request {
	v.t.Helper()
	return harness.RESTClient{API: v.prism.URL, Token: v.token}.Request(v.t, method, path, body, header...)
}

// fits sends a request that the document permits: the answer has this status, and fits it too.
func (v validated) fits(status int, method, path, body string, header ...string) harness.Page {
	v.t.Helper()
	p, reached, violations := v.prism.Do(v.t, http.DefaultClient, v.request(method, path, body, header...))
	switch {
	case !reached:
		v.t.Errorf("R09 %s %s %s: the document does not permit it: %d %s %s", method, path, body, p.Status, p.Body, violations)
	case violations != "":
		v.t.Errorf("R09 %s %s %s: the answer does not fit the document: %s", method, path, body, violations)
	case p.Status != status:
		v.t.Errorf("R09 %s %s %s: %d %s, want %d", method, path, body, p.Status, p.Body, status)
	}
	return p
}

// agree sends a body to the gateway and through Prism: what one refuses the other does.
func (v validated) agree(permitted bool, method, path, body string) {
	v.t.Helper()
	got := v.do(method, path, body)
	_, reached, _ := v.prism.Do(v.t, http.DefaultClient, v.request(method, path, body))
	if passed := got.Status < 300 || got.Status == http.StatusMultiStatus; passed != permitted || reached != permitted {
		v.t.Errorf("R09 %s %s %.200s: the gateway says %d %s, the document permits it: %v; want %v", method, path, body, got.Status, got.Body, reached, permitted)
	}
}

// older adds an article past the gateway, as it was before there were rules.
func (s *stand) older(t *testing.T, subject, tags string) string {
	t.Helper()
	res, err := http.PostForm(s.At("http://127.0.0.1:8083")+"/api.php?mod=article&act=add", url.Values{"subject": {subject}, "body": {""}, "tags": {tags}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var added struct {
		Result struct{ Aid json.Number }
	}
	if err := json.NewDecoder(res.Body).Decode(&added); err != nil || added.Result.Aid == "" {
		t.Fatalf("%v %+v", err, added)
	}
	return "/articles/" + added.Result.Aid.String()
}

// R09: the description holds for whatever the gateway answers, rows from before its rules
// included, and says of requests what the gateway enforces.
func TestPrismFindsNoDescriptionViolation(t *testing.T) {
	s := start(t)
	old := s.older(t, "abc", strings.Repeat("x", 200))
	editor := s.program(t, "editor")
	prism := harness.StartPrism(t, editor.do("GET", "/openapi.json", "").Body, s.api)
	v, reader := validated{editor, prism}, validated{s.program(t, "reader"), prism}

	t.Run("R09 lists and items", func(t *testing.T) {
		for _, path := range []string{
			"/articles", "/articles?limit=100&sort=title", "/articles?page=4&limit=100&state=draft", "/articles?page=2147483647&limit=1", "/articles?sort=-created_at",
			old, "/articles/1001", "/students", "/students/3", "/students/3/friends", "/health",
		} {
			reader.fits(200, "GET", path, "")
		}
		tag := reader.fits(200, "GET", old, "").Header.Get("Etag")
		reader.fits(304, "GET", old, "", "If-None-Match", tag)
		validated{s.user(t), prism}.fits(200, "GET", "/profile", "")
	})
	t.Run("R09 writes", func(t *testing.T) {
		const body = `{"title":"Weather","body":"Rain.","tags":"nature","state":"draft"}`
		for range 2 { // made, and told again
			v.fits(201, "POST", "/articles", body, "Idempotency-Key", "one")
		}
		v.fits(422, "POST", "/articles", `{"title":"Weathers"}`, "Idempotency-Key", `"one"`)
		at := v.fits(201, "POST", "/articles", `{"title":"L\u00fcbeck","tags":null}`).Header.Get("Location")
		v.fits(200, "PUT", at, body)
		v.fits(200, "PATCH", at, `{"tags":null}`)
		v.fits(200, "PATCH", at, `{"state":"published","body":"Sun."}`, "Content-Type", "application/merge-patch+json")
		v.fits(412, "PATCH", at, `{"state":"published"}`, "If-Match", `"none"`)
		v.fits(200, "PATCH", old, `{"state":"published"}`) // its title stays too short
		v.fits(204, "DELETE", at, "")
		v.fits(404, "DELETE", at, "")
		v.fits(204, "DELETE", "/students/3/friends/"+friend(t, editor), "")
	})
	t.Run("R09 batches", func(t *testing.T) {
		id := strings.TrimPrefix(old, "/articles/")
		v.fits(200, "PATCH", "/articles", `[{"id":`+id+`,"op":"replace","path":"/state","value":"draft"},{"id":"`+id+`","op":"remove","path":"/tags"}]`)
		v.fits(207, "PATCH", "/articles", `[{"id":`+id+`,"op":"replace","path":"/title","value":"Long enough"},{"id":"77","op":"replace","path":"/tags","value":null}]`)
	})
	t.Run("R09 errors", func(t *testing.T) {
		reader.fits(404, "GET", "/articles/99999", "")
		reader.fits(404, "GET", "/articles/99999", "", "Accept", "application/problem+json, application/json;q=0.5")
		reader.fits(500, "GET", "/articles/abc", "")
		reader.fits(403, "DELETE", old, "")
		reader.fits(403, "PATCH", "/articles", `[{"id":1001,"op":"replace","path":"/state","value":"draft"}]`)
		validated{client{t, s.api, "x"}, prism}.fits(401, "GET", "/articles", "")
	})
	t.Run("R09 jobs", func(t *testing.T) {
		at := v.fits(202, "POST", "/import-jobs", `{"file_url":"`+s.files+`/articles.txt"}`, "Prefer", "wait=1").Header.Get("Location")
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
			if j := harness.ReadJSON[job](t, v.fits(200, "GET", at, ""), 200); j.State == "succeeded" {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("%+v", j)
			}
		}
		v.fits(409, "DELETE", at, "")
		v.fits(400, "POST", "/import-jobs", `{"file_url":"https://192.0.2.1:1/x"}`)
		validated{s.program(t, "nightly"), prism}.fits(404, "GET", at, "")
	})
	t.Run("R09 the document and the gateway refuse the same bodies", func(t *testing.T) {
		for body, permitted := range map[string]bool{
			`{"title":"Of bodies"}`: true, `{"title":"Of bodies","tags":null}`: true, `{"title":"Of bodies","other":{"a":[1]}}`: true, `{"title":"Of bodies","id":null}`: true,
			`{}`: false, `{"title":null}`: false, `{"title":"four"}`: false, `{"title":7}`: false, `{"title":"Of bodies","tags":"` + strings.Repeat("x", 201) + `"}`: false,
			`{"title":"Of bodies","tags":["a"]}`: false, `{"title":"Of bodies","state":"1"}`: false, `{"title":"Of bodies","subject":"x"}`: false, `{"title":"Of bodies","_method":"DELETE"}`: false,
			`{"title":"Of bodies","aid":1}`: false, `[]`: false,
		} {
			v.agree(permitted, "POST", "/articles", body)
		}
		for body, permitted := range map[string]bool{
			`{"tags":null}`: true, `{"title":null}`: false, `{"title":"four"}`: false, `{"ctime":1}`: false,
		} {
			v.agree(permitted, "PATCH", old, body)
		}
		v.agree(false, "PUT", old, `{"title":"Weather","body":"Rain.","state":"draft"}`)
		id := strings.TrimPrefix(old, "/articles/")
		for item, permitted := range map[string]bool{
			`"op":"replace","path":"/tags","value":null`: true, `"op":"replace","path":"/title","value":"Of batches"`: true, `"op":"remove","path":"/tags"`: true,
			`"op":"remove","path":"/title"`: false, `"op":"remove","path":"/tags","value":null`: false, `"op":"replace","path":"/tags"`: false, `"op":"add","path":"/tags","value":"x"`: false,
			`"op":"replace","path":"/title","value":"four"`: false, `"op":"replace","path":"/title","value":null`: false, `"op":"replace","path":"/state","value":"1"`: false,
			`"op":"replace","path":"/body","value":"x"`: false, `"op":"replace","path":"/tags","value":"x","from":"/title"`: false,
		} {
			v.agree(permitted, "PATCH", "/articles", `[{"id":`+id+`,`+item+`}]`)
		}
		for _, id := range []string{`""`, `"a/b"`, `1.5`, `null`, `"` + strings.Repeat("x", 513) + `"`} {
			v.agree(false, "PATCH", "/articles", `[{"id":`+id+`,"op":"remove","path":"/tags"}]`)
		}
	})
}

// friend is the id of one of student 3's friends.
func friend(t *testing.T, c client) string {
	t.Helper()
	l := harness.ReadJSON[list[struct{ ID json.Number }]](t, c.do("GET", "/students/3/friends", ""), 200)
	if len(l.Data) == 0 {
		t.Fatal("student 3 has no friends")
	}
	return l.Data[0].ID.String()
}
