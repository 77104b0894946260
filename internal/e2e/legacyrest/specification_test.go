package legacyrest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// client drives the API with a token.
type client struct {
	t     *testing.T
	api   string
	token string
}

// program is a client with a secret.
func (s *stand) program(t *testing.T, id string) client {
	t.Helper()
	c := harness.NewRESTClient(t, s.issuer, s.api, harness.Credentials{ID: id, Secret: s.Secret(t, strings.ToUpper(id)+"_SECRET")})
	return client{t, s.api, c.Token}
}

// user is alice in front of the application in the browser.
func (s *stand) user(t *testing.T) client {
	t.Helper()
	config := oauth2.Config{
		ClientID: "reader-spa", RedirectURL: strings.Replace(s.files, "https", "http", 1) + "/callback",
		Endpoint: oauth2.Endpoint{AuthURL: s.issuer + "/authorize", TokenURL: s.issuer + "/token", AuthStyle: oauth2.AuthStyleInParams},
	}
	verifier := oauth2.GenerateVerifier()
	back := harness.NewBrowser(t, s.issuer).Authorize(config.AuthCodeURL("some-state", oauth2.S256ChallengeOption(verifier)), "alice", harness.Password)
	token, err := config.Exchange(t.Context(), back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	return client{t, s.api, token.AccessToken}
}

// do sends a request; header in pairs.
func (c client) do(method, path, body string, header ...string) harness.Page {
	c.t.Helper()
	return harness.RESTClient{API: c.api, Token: c.token}.Do(c.t, method, path, body, header...)
}

type link struct{ Rel, Method, Href string }

type article struct {
	ID      json.Number
	Title   string
	Tags    json.RawMessage
	State   string
	Created json.RawMessage `json:"created_at"`
	Links   []link
}

type list[T any] struct {
	Data       []T
	Pagination struct {
		Total, Page, Limit int
		TotalPages         int `json:"total_pages"`
	}
}

type job struct {
	ID, State string
	Result    struct{ Imported int }
}

// Each row of section D of the specification, and what it says of errors, limits and
// versions, in front of an API that follows none of it.
func TestEverySpecificationRowHolds(t *testing.T) {
	s := start(t)
	editor, reader, nobody := s.program(t, "editor"), s.program(t, "reader"), client{t, s.api, ""}
	t.Run("GET of a collection lists it", func(t *testing.T) {
		l := harness.ReadJSON[list[article]](t, reader.do("GET", "/articles", ""), 200)
		n := l.Pagination
		if len(l.Data) != 20 || n.Total != 312 || n.Page != 1 || n.Limit != 20 || n.TotalPages != 16 {
			t.Errorf("%d items, %+v", len(l.Data), n)
		}
		for _, a := range l.Data {
			if a.ID == "" || a.Title == "" || a.State == "" || a.Tags == nil || a.Created == nil || !slices.Contains(a.Links, link{"self", "GET", "/articles/" + a.ID.String()}) {
				t.Errorf("%+v", a)
			}
		}
	})
	t.Run("state filters", func(t *testing.T) {
		l := harness.ReadJSON[list[article]](t, reader.do("GET", "/articles?state=published&limit=100", ""), 200)
		if l.Pagination.Total != 250 || slices.ContainsFunc(l.Data, func(a article) bool { return a.State != "published" }) {
			t.Errorf("%+v", l.Pagination)
		}
		harness.WantError(t, reader.do("GET", "/articles?state=burnt", ""), 400, "invalid_parameter", "state")
	})
	t.Run("sort sorts, with a hyphen in front descending", func(t *testing.T) {
		titles := func(query string) (all []string) {
			for _, a := range harness.ReadJSON[list[article]](t, reader.do("GET", "/articles?limit=100&"+query, ""), 200).Data {
				all = append(all, a.Title)
			}
			return all
		}
		up, down := titles("sort=title"), titles("sort=-title")
		slices.Reverse(down)
		if !slices.IsSorted(up) || !slices.IsSorted(down) || slices.Equal(up, down) { // the first and the last hundred
			t.Errorf("%q\n%q", up, down)
		}
		harness.WantError(t, reader.do("GET", "/articles?sort=subject", ""), 400, "invalid_parameter", "sort")
	})
	t.Run("page and limit", func(t *testing.T) {
		seen := make(map[json.Number]bool)
		for n := 1; n <= 4; n++ {
			l := harness.ReadJSON[list[article]](t, reader.do("GET", "/articles?limit=100&page="+strconv.Itoa(n), ""), 200)
			for _, a := range l.Data {
				seen[a.ID] = true
			}
			if l.Pagination.Page != n || l.Pagination.Limit != 100 || l.Pagination.TotalPages != 4 {
				t.Errorf("%+v", l.Pagination)
			}
		}
		if len(seen) != 312 {
			t.Errorf("%d of 312 articles on four pages", len(seen))
		}
		harness.WantError(t, reader.do("GET", "/articles?page=0", ""), 400, "invalid_parameter", "page")
		harness.WantError(t, reader.do("GET", "/articles?limit=101", ""), 400, "invalid_parameter", "limit")
	})
	t.Run("POST creates, 201", func(t *testing.T) {
		p := editor.do("POST", "/articles", `{"title":"Weather","body":"Rain.","tags":"nature","state":"draft"}`)
		a := harness.ReadJSON[article](t, p, 201)
		if p.Header.Get("Location") != "/articles/"+a.ID.String() || a.State != "draft" || !slices.Contains(a.Links, link{"delete", "DELETE", "/articles/" + a.ID.String()}) {
			t.Errorf("%v %s", p.Header, p.Body)
		}
	})
	const at = "/articles/1313"
	t.Run("GET of an item reads it", func(t *testing.T) {
		if a := harness.ReadJSON[article](t, reader.do("GET", at, ""), 200); a.Title != "Weather" || len(a.Links) != 1 {
			t.Errorf("%+v", a)
		}
		harness.WantError(t, reader.do("GET", "/articles/99999", ""), 404, "not_found", "id")
	})
	t.Run("PUT replaces, with all fields", func(t *testing.T) {
		if a := harness.ReadJSON[article](t, editor.do("PUT", at, `{"title":"Weathers","body":"Sun.","tags":"","state":"published"}`), 200); a.Title != "Weathers" || a.State != "published" || string(a.Tags) != `""` {
			t.Errorf("%+v", a)
		}
		harness.WantError(t, editor.do("PUT", at, `{"title":"Weathers","body":"Sun.","state":"published"}`), 400, "invalid_parameter", "tags")
	})
	t.Run("PATCH changes some fields", func(t *testing.T) {
		if a := harness.ReadJSON[article](t, editor.do("PATCH", at, `{"tags":"sea"}`), 200); a.Title != "Weathers" || string(a.Tags) != `"sea"` {
			t.Errorf("%+v", a)
		}
	})
	t.Run("a title has 5 to 100 characters", func(t *testing.T) {
		for title, status := range map[string]int{"four": 400, "fünf…": 200, strings.Repeat("书", 100): 200, strings.Repeat("x", 101): 400} {
			if p := editor.do("PATCH", at, `{"title":"`+title+`"}`); p.Status != status {
				t.Errorf("%s: %d %s", title, p.Status, p.Body)
			}
		}
		harness.WantError(t, editor.do("POST", "/articles", `{"title":"four"}`), 400, "invalid_parameter", "title")
	})
	t.Run("PATCH of a collection changes many", func(t *testing.T) {
		p := editor.do("PATCH", "/articles", `[{"id":"1313","op":"replace","path":"/title","value":"Of weather"},{"id":"1313","op":"remove","path":"/tags"}]`)
		harness.ReadJSON[any](t, p, 200)
		if a := harness.ReadJSON[article](t, reader.do("GET", at, ""), 200); a.Title != "Of weather" || string(a.Tags) != `""` {
			t.Errorf("%+v", a)
		}
		p = editor.do("PATCH", "/articles", `[{"id":"1313","op":"replace","path":"/title","value":"Weather again"},{"id":"77","op":"replace","path":"/title","value":"No such one"}]`)
		harness.ReadJSON[any](t, p, 207)
		harness.WantError(t, editor.do("PATCH", "/articles", `[{"id":"1313","op":"replace","path":"/author","value":"x"}]`), 400, "invalid_parameter", "/0/path")
		harness.WantError(t, editor.do("PATCH", "/articles", `[]`, "Content-Type", "application/json-patch+json"), 415, "unsupported_media_type", "")
	})
	t.Run("DELETE deletes, 204", func(t *testing.T) {
		if p := editor.do("DELETE", at, ""); p.Status != 204 || p.Body != "" {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		harness.WantError(t, reader.do("GET", at, ""), 404, "not_found", "id")
		harness.WantError(t, editor.do("DELETE", at, ""), 404, "not_found", "id")
	})
	t.Run("GET lists what belongs to one, DELETE deletes one of it", func(t *testing.T) {
		const friends = "/students/3/friends"
		l := harness.ReadJSON[list[struct {
			ID    json.Number
			Links []link
		}]](t, editor.do("GET", friends, ""), 200)
		if l.Pagination.Total != 7 || len(l.Data) != 7 {
			t.Fatalf("%+v", l)
		}
		one := friends + "/" + l.Data[0].ID.String()
		if !slices.Equal(l.Data[0].Links, []link{{"delete", "DELETE", one}}) {
			t.Errorf("%+v", l.Data[0])
		}
		harness.WantError(t, reader.do("DELETE", one, ""), 403, "insufficient_scope", "")
		if p := editor.do("DELETE", one, ""); p.Status != 204 {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		if l := harness.ReadJSON[list[any]](t, reader.do("GET", friends, ""), 200); l.Pagination.Total != 6 {
			t.Errorf("%+v", l)
		}
		harness.WantError(t, reader.do("GET", "/students/99/friends", ""), 404, "not_found", "id")
	})
	t.Run("POST of import-jobs is 202 with the job's address, where it is read", func(t *testing.T) {
		p := editor.do("POST", "/import-jobs", `{"file_url":"`+s.files+`/articles.txt"}`)
		j := harness.ReadJSON[job](t, p, 202)
		at := p.Header.Get("Location")
		if at != "/jobs/"+j.ID || j.ID == "" {
			t.Fatalf("%v %s", p.Header, p.Body)
		}
		harness.WantError(t, s.program(t, "nightly").do("GET", at, ""), 404, "not_found", "")
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
			p := editor.do("GET", at, "")
			if j = harness.ReadJSON[job](t, p, 200); j.State == "succeeded" || time.Now().After(deadline) {
				if j.Result.Imported != 3 {
					t.Errorf("%s", p.Body)
				}
				break
			}
		}
		harness.WantError(t, editor.do("POST", "/import-jobs", `{}`), 400, "invalid_parameter", "file_url")
	})
	t.Run("a profile is read with a bearer credential", func(t *testing.T) {
		p := s.user(t).do("GET", "/profile", "")
		if v := harness.ReadJSON[map[string]string](t, p, 200); v["id"] != "u-1001" || v["client"] != "reader-spa" {
			t.Errorf("%s", p.Body)
		}
		harness.WantError(t, nobody.do("GET", "/profile", ""), 401, "unauthorized", "")
	})
	t.Run("every failure has the fitting status and the one form", func(t *testing.T) {
		harness.WantError(t, nobody.do("GET", "/articles", ""), 401, "unauthorized", "")
		harness.WantError(t, client{t, s.api, "x"}.do("GET", "/articles", ""), 401, "invalid_token", "")
		harness.WantError(t, reader.do("DELETE", "/articles/1001", ""), 403, "insufficient_scope", "")
		harness.WantError(t, reader.do("GET", "/nothing", ""), 404, "not_found", "")
		harness.WantError(t, editor.do("PUT", "/articles", `{}`), 405, "method_not_allowed", "")
		// What the API says with 200 and with the way through its code.
		harness.WantError(t, editor.do("GET", "/articles/abc", ""), 500, "upstream_error", "")
		if p := editor.do("GET", "/articles/abc", ""); strings.Contains(p.Body, "php") || strings.Contains(p.Body, "10.0.3.7") {
			t.Error(p.Body)
		}
	})
	t.Run("versions, by path and by Accept", func(t *testing.T) {
		const v2 = "application/vnd.acme.v2+json"
		one := harness.ReadJSON[article](t, reader.do("GET", "/v1/articles/1001", ""), 200)
		two := harness.ReadJSON[article](t, reader.do("GET", "/v2/articles/1001", ""), 200)
		if string(one.Created) != "1704096000" || string(two.Created) != `"2024-01-01T08:00:00Z"` || one.Title != two.Title || two.Links[0].Href != "/v2/articles/1001" {
			t.Errorf("%+v %+v", one, two)
		}
		p := reader.do("GET", "/articles/1001", "", "Accept", v2)
		if a := harness.ReadJSON[article](t, p, 200); string(a.Created) != string(two.Created) || p.Header.Get("Content-Type") != v2 || !strings.Contains(strings.Join(p.Header.Values("Vary"), ","), "Accept") {
			t.Errorf("%v %+v", p.Header, a)
		}
		if l := harness.ReadJSON[list[article]](t, reader.do("GET", "/v2/articles?limit=7&page=2", ""), 200); len(l.Data) != 7 || l.Pagination.Total != 250 || l.Pagination.Page != 2 || l.Pagination.TotalPages != 36 {
			t.Errorf("%+v", l.Pagination)
		}
		if p := editor.do("POST", "/v1/articles", `{"title":"Of versions"}`); p.Status != 201 || !strings.HasPrefix(p.Header.Get("Location"), "/v1/articles/") {
			t.Errorf("%d %v %s", p.Status, p.Header, p.Body)
		}
		harness.WantError(t, reader.do("GET", "/v3/articles", ""), 404, "not_found", "")
		harness.WantError(t, reader.do("GET", "/articles", "", "Accept", "application/vnd.acme.v3+json"), 406, "not_acceptable", "")
		harness.WantError(t, reader.do("GET", "/v1/articles", "", "Accept", v2), 406, "not_acceptable", "")
		harness.WantError(t, editor.do("POST", "/v2/articles", `{"title":"Of versions"}`), 405, "method_not_allowed", "")
	})
	t.Run("limits are told, and 429", func(t *testing.T) {
		nightly := s.program(t, "nightly")
		var p harness.Page
		for range 20 {
			if p = nightly.do("POST", "/import-jobs", `{}`); p.Status == 429 {
				break
			}
			h := p.Header
			limit, left := number(h.Get("X-RateLimit-Limit")), number(h.Get("X-RateLimit-Remaining"))
			if reset := number(h.Get("X-RateLimit-Reset")); limit != 600 || left < 0 || left > 600 || reset < int(time.Now().Unix()) || reset > int(time.Now().Unix())+61 {
				t.Fatalf("%v", h)
			}
		}
		harness.WantError(t, p, 429, "rate_limited", "")
		if s := number(p.Header.Get("Retry-After")); s < 1 || s > 60 {
			t.Errorf("%v", p.Header)
		}
	})
}

// number is a header's, or -1.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}
