package wordpress

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// gateway is the gateway in front of a site of its own.
type gateway struct {
	site           site
	api            string
	reader, writer harness.RESTClient
}

func start(t *testing.T) gateway {
	t.Helper()
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	g := harness.Start(t, strings.Replace(string(text), "$QUIET", harness.Quiet, 1), "$WP", s.addr, "$AUTHORIZATION", s.authorization)
	client := func(id string) harness.RESTClient {
		return harness.NewRESTClient(t, g.ID, g.API, harness.Credentials{ID: id, Secret: id + "-secret-0123456789-0123456789-0123456789"})
	}
	return gateway{s, g.API, client("reader"), client("writer")}
}

type post struct {
	ID      int
	Title   string
	Content string
	State   string
	Created string `json:"created_at"`
	Links   []struct{ Rel, Method, Href string }
}

type list struct {
	Data       []post
	Pagination struct {
		Total, Page, Limit int
		TotalPages         int `json:"total_pages"`
	}
}

func (l list) titles() (all []string) {
	for _, p := range l.Data {
		all = append(all, p.Title)
	}
	return all
}

// Everything that a client does with posts, with some thirty lines of api_rest.
func TestWordPressPosts(t *testing.T) {
	g := start(t)
	reader, writer := g.reader, g.writer
	for i := range 12 {
		state := []string{"published", "draft"}[i%2]
		p := writer.Do(t, "POST", "/posts", fmt.Sprintf(`{"title":"Notes on %c","content":"The ferry sails at noon.","state":%q}`, 'a'+i, state))
		if made := harness.ReadJSON[post](t, p, 201); p.Header.Get("Location") != fmt.Sprintf("/posts/%d", made.ID) || made.State != state {
			t.Fatalf("%v %s", p.Header, p.Body)
		}
	}
	t.Run("list, in pages", func(t *testing.T) {
		p := reader.Do(t, "GET", "/posts?state=published&sort=title&limit=4&page=2", "")
		l := harness.ReadJSON[list](t, p, 200)
		if n := l.Pagination; n.Total != 7 || n.Page != 2 || n.Limit != 4 || n.TotalPages != 2 || !slices.Equal(l.titles(), []string{"Notes on g", "Notes on i", "Notes on k"}) {
			t.Errorf("%+v %q", n, l.titles())
		}
		if link := p.Header.Get("Link"); !strings.Contains(link, `page=1`) || !strings.Contains(link, `rel="prev"`) {
			t.Errorf("%v", p.Header)
		}
	})
	t.Run("sort and search", func(t *testing.T) {
		l := harness.ReadJSON[list](t, reader.Do(t, "GET", "/posts?state=draft&q=ferry&sort=-title&limit=3", ""), 200)
		if l.Pagination.Total != 6 || !slices.Equal(l.titles(), []string{"Notes on l", "Notes on j", "Notes on h"}) {
			t.Errorf("%+v %q", l.Pagination, l.titles())
		}
		harness.WantError(t, reader.Do(t, "GET", "/posts?sort=slug", ""), 400, "invalid_parameter", "sort")
		harness.WantError(t, reader.Do(t, "GET", "/posts?state=trash", ""), 400, "invalid_parameter", "state")
	})
	t.Run("read, change, delete", func(t *testing.T) {
		made := writer.Do(t, "POST", "/posts", `{"title":"Müller & \"Söhne\"","content":"x","state":"draft"}`)
		at := made.Header.Get("Location")
		p := reader.Do(t, "GET", at, "")
		if got := harness.ReadJSON[post](t, p, 200); got.Title != `Müller & "Söhne"` || got.State != "draft" || got.Created == "" || len(got.Links) != 1 || got.Links[0].Href != at {
			t.Errorf("%+v", got)
		}
		// Links are those of the caller, so a tag is the caller's too.
		tag := writer.Do(t, "GET", at, "").Header.Get("ETag")
		if p := writer.Do(t, "GET", at, "", "If-None-Match", tag); p.Status != 304 {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		if got := harness.ReadJSON[post](t, writer.Do(t, "PATCH", at, `{"title":"Mueller"}`, "If-Match", tag), 200); got.Title != "Mueller" || len(got.Links) != 2 {
			t.Errorf("%+v", got)
		}
		harness.WantError(t, writer.Do(t, "PATCH", at, `{"title":"Muller"}`, "If-Match", tag), 412, "precondition_failed", "")
		harness.WantError(t, writer.Do(t, "PUT", at, `{"title":"Mueller"}`), 400, "invalid_parameter", "content")
		if got := harness.ReadJSON[post](t, writer.Do(t, "PUT", at, `{"title":"Muller","content":"y","state":"private"}`), 200); got.Title != "Muller" || got.State != "private" {
			t.Errorf("%+v", got)
		}
		if p := writer.Do(t, "DELETE", at, ""); p.Status != 204 || p.Body != "" {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		harness.WantError(t, reader.Do(t, "GET", at, ""), 404, "not_found", "")
		harness.WantError(t, writer.Do(t, "DELETE", at, ""), 404, "not_found", "")
	})
	t.Run("R07 header fields that are WordPress's own end here", func(t *testing.T) {
		for what, p := range map[string]harness.Page{
			"a list":  reader.Do(t, "GET", "/posts", ""),
			"an item": reader.Do(t, "GET", "/posts/1", ""),
			"a post":  writer.Do(t, "POST", "/posts", `{"title":"Headers","state":"draft"}`),
			"a 404":   reader.Do(t, "GET", "/posts/4711", ""),
		} {
			for name, values := range p.Header {
				switch {
				case name == "X-Powered-By", name == "Host", name == "Allow", name == "X-Robots-Tag", strings.HasPrefix(name, "X-Wp-"), strings.HasPrefix(name, "Access-Control-"):
					t.Errorf("%s has %s: %q", what, name, values)
				case strings.Contains(strings.Join(values, ","), g.site.addr):
					t.Errorf("%s has WordPress's address in %s: %q", what, name, values)
				}
			}
			if strings.Contains(p.Body, g.site.addr) {
				t.Errorf("%s has WordPress's address in its body: %s", what, p.Body)
			}
		}
	})
	t.Run("R09 posts that were made before the rules fit the description", func(t *testing.T) {
		// WordPress renders titles with tags and entities, and takes what the rules refuse.
		p := g.site.raw(t, "POST", "/wp/v2/posts", url.Values{"content": {"x"}, "status": {"draft"}})
		old := harness.ReadJSON[struct{ ID int }](t, p, 201)
		document := harness.RESTClient{API: g.api}.Do(t, "GET", "/openapi.json", "")
		prism := harness.StartPrism(t, document.Body, g.api)
		// fits sends a request through Prism, which compares it and its answer with the description.
		fits := func(status int, method, path, body string) {
			t.Helper()
			r := harness.RESTClient{API: prism.URL, Token: writer.Token}.Request(t, method, path, body)
			if p, reached, violations := prism.Do(t, http.DefaultClient, r); !reached || violations != "" || p.Status != status {
				t.Errorf("%s %s: %d %s, passed on: %v, violations: %s", method, path, p.Status, p.Body, reached, violations)
			}
		}
		fits(200, "GET", "/posts?state=draft&limit=100", "")
		fits(200, "GET", fmt.Sprintf("/posts/%d", old.ID), "")
		fits(200, "PATCH", fmt.Sprintf("/posts/%d", old.ID), `{"title":"<b>Bold</b> & more"}`)
		fits(200, "GET", fmt.Sprintf("/posts/%d", old.ID), "")
		fits(201, "POST", "/posts", `{"title":"<b>Bold</b> & more","state":"draft"}`)
		fits(404, "GET", "/posts/4711", "")
		fits(204, "DELETE", fmt.Sprintf("/posts/%d", old.ID), "")
	})
	t.Run("R06 a page beyond the end is empty", func(t *testing.T) {
		p := reader.Do(t, "GET", "/posts?page=99", "")
		if l := harness.ReadJSON[list](t, p, 200); l.Data == nil || len(l.Data) != 0 || l.Pagination.Page != 99 {
			t.Errorf("%s", p.Body)
		}
	})
	t.Run("a key makes one post", func(t *testing.T) {
		first := writer.Do(t, "POST", "/posts", `{"title":"Once","state":"draft"}`, "Idempotency-Key", `"k1"`)
		again := writer.Do(t, "POST", "/posts", `{"title":"Once","state":"draft"}`, "Idempotency-Key", `"k1"`)
		if first.Status != 201 || again.Status != 201 || first.Header.Get("Location") != again.Header.Get("Location") || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%d %v, %d %v", first.Status, first.Header, again.Status, again.Header)
		}
	})
	t.Run("many at once", func(t *testing.T) {
		l := harness.ReadJSON[list](t, reader.Do(t, "GET", "/posts?state=draft&sort=title&limit=2", ""), 200)
		body := fmt.Sprintf(`[{"id":%d,"op":"replace","path":"/state","value":"published"},{"id":%d,"op":"replace","path":"/title","value":"Renamed"},{"id":99999,"op":"replace","path":"/title","value":"x"}]`, l.Data[0].ID, l.Data[1].ID)
		results := harness.ReadJSON[struct{ Data []struct{ Status int } }](t, writer.Do(t, "PATCH", "/posts", body), 207).Data
		if len(results) != 3 || results[0].Status != 200 || results[1].Status != 200 || results[2].Status != 404 {
			t.Errorf("%+v", results)
		}
	})
	t.Run("refusals", func(t *testing.T) {
		harness.WantError(t, reader.Do(t, "DELETE", "/posts/1", ""), 403, "insufficient_scope", "")
		harness.WantError(t, writer.Do(t, "POST", "/posts", `{"content":"x"}`), 400, "invalid_parameter", "title")
		p := writer.Do(t, "POST", "/posts", `{"title":"x","state":"trash"}`)
		if harness.WantError(t, p, 400, "invalid_parameter", "state"); !strings.Contains(p.Body, "one of: draft, private, published") {
			t.Errorf("%s", p.Body)
		}
		harness.WantError(t, writer.Do(t, "POST", "/posts", `{"title":"x","author":4711}`), 400, "bad_request", "")
		// R11: WordPress names the parameters in the members of an object.
		harness.WantError(t, writer.Do(t, "POST", "/posts", `{"title":"x","created_at":"never"}`), 400, "invalid_parameter", "created_at")
		harness.WantError(t, writer.Do(t, "POST", "/posts", `{"title":"x","comment_status":"maybe","ping_status":"so"}`), 400, "invalid_parameter", "comment_status")
		harness.WantError(t, harness.RESTClient{API: g.api}.Do(t, "GET", "/posts", ""), 401, "unauthorized", "")
		// R04: WordPress routes by the very parameter that the id is in.
		for _, path := range []string{"/posts/1%2Frevisions", "/posts/1%2Fautosaves", "/posts/1%7C2", "/posts/1%26context=view"} {
			harness.WantError(t, writer.Do(t, "GET", path, ""), 404, "not_found", "")
		}
	})
	t.Run("without its database WordPress answers with a page", func(t *testing.T) {
		g.site.db.Stop()
		t.Cleanup(func() {
			if err := g.site.db.Start(); err != nil {
				t.Error(err)
			}
		})
		if p := g.site.raw(t, "GET", "/wp/v2/posts", nil); !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
			t.Fatalf("%d %v %s", p.Status, p.Header, p.Body)
		}
		harness.WantError(t, reader.Do(t, "GET", "/posts", ""), 500, "upstream_error", "")
		harness.WantError(t, writer.Do(t, "POST", "/posts", `{"title":"Nowhere"}`), 500, "upstream_error", "")
	})
}
