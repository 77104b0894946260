package restapi

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// dialect is what examples/legacy/api speaks.
const dialect = `"errors": {"from": [{"kind": "json", "message": "/message", "field": "/field"}], "fail_when": [
	{"pointer": "/code", "op": "==", "values": ["E1004", "E2004", "E2005"], "status": 404},
	{"pointer": "/success", "op": "==", "values": ["false"], "status": 422}]}`

const full = `"upstream": $TO, ` + declared + `, ` + dialect

// wantError is an error of the API: its status, code and field, "" for none.
func wantError(t *testing.T, p harness.Page, status int, code, field string) {
	t.Helper()
	var e struct {
		Error struct {
			Code, Message string
			Field         *string
		}
	}
	if p.Status != status || p.Header.Get("Content-Type") != "application/json" || json.Unmarshal([]byte(p.Body), &e) != nil {
		t.Errorf("%d %v %s, want %d %s", p.Status, p.Header, p.Body, status, code)
		return
	}
	got := ""
	if e.Error.Field != nil {
		got = *e.Error.Field
	}
	if e.Error.Code != code || e.Error.Message == "" || got != field || field != "" && strings.HasPrefix(e.Error.Message, field+" "+field) {
		t.Errorf("%d %s, want %s %q", p.Status, p.Body, code, field)
	}
}

type article struct {
	ID    json.Number
	Title string
	State string
	Links []struct{ Rel, Method, Href string }
}

type page struct {
	Data       []article
	Pagination struct {
		Total, Page, Limit int
		TotalPages         int `json:"total_pages"`
	}
}

func read[T any](t *testing.T, p harness.Page, status int) (v T) {
	t.Helper()
	if p.Status != status || p.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v %.500s, want %d", p.Status, p.Header, p.Body, status)
	}
	if err := json.Unmarshal([]byte(p.Body), &v); err != nil {
		t.Fatalf("%v: %.500s", err, p.Body)
	}
	return v
}

func TestConventionsInFrontOfALegacyAPI(t *testing.T) {
	r := start(t, legacy(t), full)
	t.Run("a list is paged, sorted and filtered", func(t *testing.T) {
		p := r.do("reader", http.MethodGet, "/articles?page=2&limit=3&state=draft&sort=-title", "")
		l := read[page](t, p, 200)
		if n := l.Pagination; n.Total != 62 || n.Page != 2 || n.Limit != 3 || n.TotalPages != 21 || len(l.Data) != 3 {
			t.Errorf("%+v", n)
		}
		for i, a := range l.Data {
			if a.State != "draft" || i > 0 && a.Title > l.Data[i-1].Title {
				t.Errorf("%+v", l.Data)
			}
		}
		if link := p.Header.Get("Link"); !strings.Contains(link, `rel="next"`) || !strings.Contains(link, "page=21") {
			t.Error(link)
		}
		if l := read[page](t, r.do("reader", http.MethodGet, "/articles?page=99999", ""), 200); len(l.Data) != 0 || l.Pagination.Total != 312 {
			t.Errorf("beyond the end: %+v", l)
		}
	})
	t.Run("what a list does not have is refused, and nothing sent", func(t *testing.T) {
		for query, field := range map[string]string{
			"page=0": "page", "limit=101": "limit", "limit=x": "limit", "sort=body": "sort", "state=gone": "state", "q=1": "q", "page=1&page=2": "page",
		} {
			wantError(t, r.do("reader", http.MethodGet, "/articles?"+query, ""), 400, "invalid_parameter", field)
		}
		wantError(t, r.do("reader", http.MethodGet, "/articles/1001?page=2", ""), 400, "invalid_parameter", "page")
	})
	t.Run("an article's life", func(t *testing.T) {
		p := r.do("writer", http.MethodPost, "/articles", `{"title":"Größe & Gewicht","body":"x+y=z","state":"draft"}`)
		made := read[article](t, p, 201)
		at := p.Header.Get("Location")
		if at != "/articles/"+made.ID.String() || made.State != "draft" || made.Title != "Größe & Gewicht" {
			t.Fatalf("%s %+v", at, made)
		}
		if got := read[article](t, r.do("reader", http.MethodGet, at, ""), 200); got.Title != made.Title || len(got.Links) != 1 || got.Links[0].Rel != "self" {
			t.Errorf("a reader sees %+v", got)
		}
		if got := read[article](t, r.do("writer", http.MethodGet, at, ""), 200); len(got.Links) != 2 || got.Links[1].Method != "DELETE" || got.Links[1].Href != at {
			t.Errorf("a writer sees %+v", got)
		}
		wantError(t, r.do("writer", http.MethodPut, at, `{"title":"New title"}`), 400, "invalid_parameter", "body")
		if got := read[article](t, r.do("writer", http.MethodPut, at, `{"title":"New title","body":"b","state":"published"}`), 200); got.Title != "New title" || got.State != "published" {
			t.Errorf("%+v", got)
		}
		if got := read[article](t, r.do("writer", http.MethodPatch, at, `{"state":"draft"}`), 200); got.Title != "New title" || got.State != "draft" {
			t.Errorf("%+v", got)
		}
		head := r.do("reader", http.MethodHead, at, "")
		if get := r.do("reader", http.MethodGet, at, ""); head.Status != 200 || head.Body != "" || head.Header.Get("Content-Length") != get.Header.Get("Content-Length") {
			t.Errorf("HEAD: %d %v", head.Status, head.Header)
		}
		if p := r.do("writer", http.MethodDelete, at, ""); p.Status != 204 || p.Body != "" || p.Header.Get("Content-Type") != "" {
			t.Errorf("%d %v %s", p.Status, p.Header, p.Body)
		}
		wantError(t, r.do("writer", http.MethodDelete, at, ""), 404, "not_found", "id")
		wantError(t, r.do("reader", http.MethodGet, at, ""), 404, "not_found", "id")
		if p := r.do("reader", http.MethodHead, at, ""); p.Status != 404 || p.Body != "" {
			t.Errorf("HEAD: %d", p.Status)
		}
	})
	t.Run("bodies are judged before anything is sent", func(t *testing.T) {
		for body, field := range map[string]string{
			`{"title":"four"}`: "title", `{"body":"x"}`: "title", `{"title":"A title","state":"gone"}`: "state", `{"title":"A title","title":"B"}`: "title",
			`{"title":"A title","subject":"other"}`: "subject", `{"title":"A title","_method":"DELETE"}`: "_method",
		} {
			wantError(t, r.do("writer", http.MethodPost, "/articles", body), 400, "invalid_parameter", field)
		}
		for _, body := range []string{`[]`, `{`, `{} x`, "{\"title\":\"\xff\xff\xff\xff\xff\"}", strings.Repeat("[", 200)} {
			wantError(t, r.do("writer", http.MethodPost, "/articles", body), 400, "bad_request", "")
		}
		wantError(t, r.do("writer", http.MethodPost, "/articles", "title=A+title", "Content-Type", "application/x-www-form-urlencoded"), 415, "unsupported_media_type", "")
		wantError(t, r.do("writer", http.MethodPost, "/articles", `{"title":"`+strings.Repeat("x", 1<<20)+`"}`), 413, "payload_too_large", "")
	})
	t.Run("a body of unannounced length has the same limit", func(t *testing.T) {
		body := io.MultiReader(strings.NewReader(`{"title":"A title","body":"`), strings.NewReader(strings.Repeat("x", 1<<20)), strings.NewReader(`"}`))
		req, err := http.NewRequest(http.MethodPost, r.API+"/articles", body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+r.token("writer"))
		wantError(t, harness.Do(t, harness.NewBrowser(t, "").Client, req), 413, "payload_too_large", "")
	})
	t.Run("methods", func(t *testing.T) {
		p := r.do("writer", http.MethodPut, "/articles", "{}")
		wantError(t, p, 405, "method_not_allowed", "")
		if p.Header.Get("Allow") != "GET, HEAD, OPTIONS, PATCH, POST" {
			t.Error(p.Header)
		}
		p = r.do("reader", http.MethodOptions, "/articles/7", "")
		if p.Status != 204 || p.Header.Get("Allow") != "DELETE, GET, HEAD, OPTIONS, PATCH, PUT" {
			t.Errorf("%d %v", p.Status, p.Header)
		}
	})
	t.Run("nested resources", func(t *testing.T) {
		p := r.do("writer", http.MethodGet, "/students/3/friends?limit=2", "")
		l := read[page](t, p, 200)
		if len(l.Data) != 2 || l.Pagination.Total != 7 || l.Data[0].Links[0].Href != "/students/3/friends/"+l.Data[0].ID.String() {
			t.Errorf("%+v", l)
		}
		if p := r.do("writer", http.MethodDelete, l.Data[0].Links[0].Href, ""); p.Status != 204 {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		wantError(t, r.do("writer", http.MethodDelete, l.Data[0].Links[0].Href, ""), 404, "not_found", "fid")
	})
	t.Run("a document without items", func(t *testing.T) {
		if p := r.do("reader", http.MethodGet, "/profile", ""); p.Status != 422 { // the example has no users
			t.Errorf("%d %s", p.Status, p.Body)
		}
	})
	t.Run("there is no way around", func(t *testing.T) {
		for _, path := range []string{"/api.php?mod=article&act=list", "/", "/articles/", "/articles/1001/x", "/Articles", "/health"} {
			wantError(t, r.do("writer", http.MethodGet, path, ""), 404, "not_found", "")
		}
	})
}
