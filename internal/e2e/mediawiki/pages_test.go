package mediawiki

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

type page struct {
	ID      json.Number
	Title   string
	Text    string
	Changed string `json:"changed_at"`
	Links   []struct{ Rel, Method, Href string }
}

type list struct {
	Data       []page
	Pagination struct {
		Total, Page, Limit *int
		TotalPages         *int `json:"total_pages"`
	}
}

func (l list) titles() (all []string) {
	for _, p := range l.Data {
		all = append(all, p.Title)
	}
	return all
}

// next is the address of the next page as Link says it, or "".
func next(t *testing.T, p harness.Page) string {
	t.Helper()
	for link := range strings.SplitSeq(p.Header.Get("Link"), ", ") {
		address, rel, _ := strings.Cut(link, ">; ")
		if rel == `rel="next"` {
			u, err := url.Parse(strings.TrimPrefix(address, "<"))
			if err != nil {
				t.Fatal(err)
			}
			return u.RequestURI()
		}
	}
	return ""
}

// Everything that a client does with pages, in front of an API that has its verbs in the
// query, lists by cursors, reports failures with status 200 and lets nobody write who has
// not signed in and fetched a token for it.
func TestMediaWikiGetsARESTInterface(t *testing.T) {
	s := start(t)
	reader, editor := s.client(t, "reader"), s.client(t, "editor")
	create := func(title, text string) string {
		t.Helper()
		body, err := json.Marshal(map[string]string{"title": title, "text": text})
		if err != nil {
			t.Fatal(err)
		}
		p := editor.Do(t, "POST", "/pages", string(body))
		made := harness.ReadJSON[page](t, p, 201)
		if at := p.Header.Get("Location"); made.Title != title || at != "/pages/"+made.ID.String() {
			t.Fatalf("%v %s", p.Header, p.Body)
		}
		return p.Header.Get("Location")
	}
	for n := range 5 {
		create(fmt.Sprintf("Note %d", n), fmt.Sprintf("The ferry, part %d. [[Category:Ferries]] [[Category:Part %d]]", n, n))
	}
	kümmel := create("Gewürze/Kümmel", "Carum carvi. [[Category:Gewürze]]")

	t.Run("pages by cursor", func(t *testing.T) {
		var titles []string
		pages := 0
		for at := "/pages?limit=3"; at != ""; pages++ {
			p := reader.Do(t, "GET", at, "")
			l := harness.ReadJSON[list](t, p, 200)
			titles = append(titles, l.titles()...)
			if strings.Contains(p.Header.Get("Link"), "apcontinue") || strings.Contains(p.Header.Get("Link"), "Note") {
				t.Errorf("the cursor is not sealed: %v", p.Header)
			}
			at = next(t, p)
		}
		if want := []string{"Gewürze/Kümmel", "Main Page", "Note 0", "Note 1", "Note 2", "Note 3", "Note 4"}; pages != 3 || !slices.Equal(titles, want) {
			t.Errorf("%d pages: %q", pages, titles)
		}
		harness.WantError(t, reader.Do(t, "GET", "/pages?page=2", ""), 400, "invalid_parameter", "page")
		harness.WantError(t, reader.Do(t, "GET", "/pages?cursor=Note", ""), 400, "invalid_parameter", "cursor")
	})
	t.Run("pages by page", func(t *testing.T) {
		var titles []string
		for n := 1; n <= 3; n++ {
			p := reader.Do(t, "GET", fmt.Sprintf("/titles?q=Note&limit=2&page=%d", n), "")
			l := harness.ReadJSON[list](t, p, 200)
			if of := l.Pagination; of.Total == nil || *of.Total != 5 || of.TotalPages == nil || *of.TotalPages != 3 || (next(t, p) == "") != (n == 3) {
				t.Errorf("%v %s", p.Header, p.Body)
			}
			titles = append(titles, l.titles()...)
		}
		slices.Sort(titles)
		if !slices.Equal(titles, []string{"Note 0", "Note 1", "Note 2", "Note 3", "Note 4"}) {
			t.Errorf("%q", titles)
		}
		harness.WantError(t, reader.Do(t, "GET", "/titles", ""), 400, "invalid_parameter", "q")
	})
	t.Run("categories by page", func(t *testing.T) {
		p := reader.Do(t, "GET", "/categories?limit=3&page=2", "")
		l := harness.ReadJSON[list](t, p, 200)
		if n := l.Pagination; !slices.Equal(l.titles(), []string{"Part 1", "Part 2", "Part 3"}) || n.Total == nil || *n.Total != 7 || n.TotalPages == nil || *n.TotalPages != 3 {
			t.Errorf("%s", p.Body)
		}
	})
	t.Run("members of a category", func(t *testing.T) {
		l := harness.ReadJSON[list](t, reader.Do(t, "GET", "/categories/Ferries/members?limit=2", ""), 200)
		if !slices.Equal(l.titles(), []string{"Note 0", "Note 1"}) || l.Data[0].ID == "" {
			t.Errorf("%+v", l)
		}
		l = harness.ReadJSON[list](t, reader.Do(t, "GET", "/categories/Gew%C3%BCrze/members", ""), 200)
		if !slices.Equal(l.titles(), []string{"Gewürze/Kümmel"}) {
			t.Errorf("%+v", l)
		}
		if l := harness.ReadJSON[list](t, reader.Do(t, "GET", "/categories/Nobody/members", ""), 200); l.Data == nil || len(l.Data) != 0 {
			t.Errorf("%+v", l)
		}
	})
	t.Run("a page by id and by title", func(t *testing.T) {
		for _, at := range []string{kümmel, "/titles/Gew%C3%BCrze%2FK%C3%BCmmel"} {
			p := reader.Do(t, "GET", at, "")
			got := harness.ReadJSON[page](t, p, 200)
			if got.Title != "Gewürze/Kümmel" || got.Text != "Carum carvi. [[Category:Gewürze]]" || got.Changed == "" || "/pages/"+got.ID.String() != kümmel || strings.Contains(p.Body, "slots") {
				t.Errorf("%s: %s", at, p.Body)
			}
			if p.Header.Get("Content-Disposition") != "" || p.Header.Get("X-Powered-By") != "" {
				t.Errorf("R07 %v", p.Header)
			}
		}
		harness.WantError(t, reader.Do(t, "GET", "/pages/4711", ""), 404, "not_found", "")
		harness.WantError(t, reader.Do(t, "GET", "/titles/Gew%C3%BCrze%2FAnis", ""), 404, "not_found", "")
		harness.WantError(t, reader.Do(t, "GET", "/titles/%3Cb%3E", ""), 400, "bad_request", "")
		// R04
		harness.WantError(t, reader.Do(t, "GET", "/pages/1%7C2", ""), 404, "not_found", "")
		harness.WantError(t, reader.Do(t, "GET", "/titles/Main%20Page%7CNote%201", ""), 404, "not_found", "")
	})
	t.Run("a page is changed and deleted", func(t *testing.T) {
		at := create("Straße/1", "Eins.")
		if p := editor.Do(t, "PATCH", at, `{"text":"Zwei.","summary":"Zählung"}`); p.Status != 200 {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		if got := harness.ReadJSON[page](t, reader.Do(t, "GET", at, ""), 200); got.Title != "Straße/1" || got.Text != "Zwei." {
			t.Errorf("%+v", got)
		}
		if p := editor.Do(t, "DELETE", at, ""); p.Status != 204 || p.Body != "" {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		harness.WantError(t, reader.Do(t, "GET", at, ""), 404, "not_found", "")
	})
	t.Run("refusals", func(t *testing.T) {
		harness.WantError(t, editor.Do(t, "POST", "/pages", `{"title":"Note 1","text":"x"}`), 409, "conflict", "")
		harness.WantError(t, editor.Do(t, "POST", "/pages", `{"title":"a|b","text":"x"}`), 400, "bad_request", "")
		harness.WantError(t, editor.Do(t, "POST", "/pages", `{"title":"x"}`), 400, "invalid_parameter", "text")
		harness.WantError(t, editor.Do(t, "PATCH", "/pages/4711", `{"text":"x"}`), 404, "not_found", "")
		harness.WantError(t, editor.Do(t, "DELETE", "/pages/4711", ""), 404, "not_found", "")
		harness.WantError(t, reader.Do(t, "DELETE", "/pages/1", ""), 403, "insufficient_scope", "")
		harness.WantError(t, harness.RESTClient{API: s.api}.Do(t, "GET", "/pages", ""), 401, "unauthorized", "")
		harness.WantError(t, editor.Do(t, "GET", "/api.php?action=query&meta=tokens", ""), 404, "not_found", "")
		harness.WantError(t, editor.Do(t, "PUT", "/pages/1", `{"text":"x"}`), 405, "method_not_allowed", "")
	})
	t.Run("R12 the gateway signs in, and again when its session has ended", func(t *testing.T) {
		signIns := func() int {
			return strings.Count(s.Read(t, "state/mediawiki.log"), "POST /api.php?format=json&formatversion=2&action=login")
		}
		if n := signIns(); n != 1 {
			t.Errorf("%d sign-ins for all requests so far", n)
		}
		s.endSessions(t)
		var clients sync.WaitGroup
		for n := range 6 {
			clients.Go(func() {
				body := fmt.Sprintf(`{"title":"After %d","text":"x"}`, n)
				if p := editor.Do(t, "POST", "/pages", body); p.Status != 201 {
					t.Errorf("%d %s", p.Status, p.Body)
				}
			})
		}
		clients.Wait()
		if n := signIns(); n != 2 {
			t.Errorf("%d sign-ins, want one more for all that found the session ended", n)
		}
		s.endSessions(t)
		harness.ReadJSON[page](t, reader.Do(t, "GET", kümmel, ""), 200)
		// What the gateway has is not for clients, in either direction.
		harness.WantError(t, editor.Do(t, "POST", "/pages", `{"title":"x","text":"x","token":"y"}`), 400, "invalid_parameter", "token")
		for _, path := range []string{kümmel, "/openapi.json"} {
			if p := editor.Do(t, "GET", path, "", "Cookie", "wiki_session=x"); p.Status != 200 || p.Header.Get("Set-Cookie") != "" || strings.Contains(p.Body, "Gateway") {
				t.Errorf("%s: %v %s", path, p.Header, p.Body)
			}
		}
	})
}
