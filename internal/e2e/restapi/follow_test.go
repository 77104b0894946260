package restapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const followed = `
	resource pages {
		etag
		send fixed query token=sesame
		list {
			cursor continue /continue/continue
			cursor apcontinue /continue/apcontinue
			filter category=cat
			items /query/allpages
			paginate local
		}
		id /pageid
		rename id=pageid
		links self
	}
	resource parts {
		list {
			cursor apcontinue /continue/apcontinue
			items /query/allpages
			paginate local
			complete when /batchcomplete exists
		}
	}
`

// R06: `paginate local` follows the cursors of an API, and counts what it gives.
func TestLocalPaginationFollowsCursors(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded("to "+u.Addr+followed))
	r := &rig{g, t, make(map[string]string)}
	u.Answer(func(w http.ResponseWriter, q *http.Request) { // ten at a time
		w.Header().Set("X-Powered-By", "PHP")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Cache-Control", "max-age=60")
		wikiPages(47)(w, q)
	})
	for _, c := range []struct {
		path        string
		first, many int
		links       string
	}{
		{"/pages?page=1&limit=5&category=a", 0, 5, "first next last"},
		{"/pages?page=3&limit=15&category=a", 30, 15, "first prev next last"},
		{"/pages?page=4&limit=15&category=a", 45, 2, "first prev last"},
		{"/pages?page=9&limit=15&category=a", 0, 0, "first prev last"},
		{"/pages?page=1&limit=100&category=a", 0, 47, "first last"},
	} {
		p := r.do("reader", http.MethodGet, c.path, "")
		got := read[cursorPage](t, p, 200)
		if got.Pagination.Total == nil || *got.Pagination.Total != 47 || len(got.Data) != c.many || c.many > 0 && got.Data[0].ID != c.first || got.Pagination.NextCursor != nil {
			t.Errorf("R06 %s: %+v", c.path, got)
		}
		rels := ""
		for _, rel := range []string{"first", "prev", "next", "last"} {
			if linked(p, rel) != "" {
				rels += " " + rel
			}
		}
		if h := p.Header; h.Get("X-Powered-By")+h.Get("Set-Cookie")+h.Get("Etag") != "" || h.Get("Cache-Control") != "max-age=60" || h.Get("Vary") == "" {
			t.Errorf("R06 %v", h)
		}
		if rels != " "+c.links || c.many > 0 && !strings.Contains(p.Body, fmt.Sprintf(`"href":"/pages/%d"`, c.first)) {
			t.Errorf("R06 %s: %s %s", c.path, p.Header.Get("Link"), p.Body)
		}
		hits := u.Hits()
		for i, hit := range hits {
			asked := hit.URL.Query()
			if asked.Get("token") != "sesame" || asked.Has("page") || asked.Has("limit") || asked.Get("cat") != "a" || asked.Has("apcontinue") != (i > 0) {
				t.Errorf("R06 %v", asked)
			}
		}
		if len(hits) != 5 {
			t.Errorf("R06 %d requests", len(hits))
		}
		if head := r.do("reader", http.MethodHead, c.path, ""); head.Status != 200 || head.Body != "" || head.Header.Get("Link") != p.Header.Get("Link") {
			t.Errorf("R06 HEAD %d %v", head.Status, head.Header)
		}
		u.Hits()
	}
	wantError(t, r.do("reader", http.MethodGet, "/pages?cursor=x", ""), 400, "invalid_parameter", "cursor")
}

// R06: it ends somewhere: at a bound, at a failure and in a circle.
func TestFollowingCursorsIsBounded(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded("to "+u.Addr+followed))
	r := &rig{g, t, make(map[string]string)}
	u.Answer(wikiPages(100_000))
	p := r.do("reader", http.MethodGet, "/pages?page=5&limit=100", "")
	got := read[cursorPage](t, p, 200)
	if n := len(u.Hits()); n != 50 || len(got.Data) != 100 || got.Data[0].ID != 400 || got.Pagination.Total != nil || linked(p, "next") == "" || linked(p, "last") != "" {
		t.Errorf("R06 %d requests: %+v %s", n, got.Pagination, p.Header.Get("Link"))
	}
	wantError(t, r.do("reader", http.MethodGet, linked(p, "next"), ""), 400, "invalid_parameter", "page")
	u.Hits()
	big := strings.Repeat("x", 6<<20)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		at, _ := strconv.Atoi(q.URL.Query().Get("apcontinue"))
		_, _ = fmt.Fprintf(w, `{"continue":{"apcontinue":%d},"query":{"allpages":[{"pageid":%d}]},"x":"%s"}`, at+1, at, big)
	})
	if p := r.do("reader", http.MethodGet, "/pages?limit=2", ""); p.Status != 200 || len(u.Hits()) != 3 {
		t.Errorf("R06 bytes: %d %.200s", p.Status, p.Body)
	}
	u.Answer(func(w http.ResponseWriter, q *http.Request) { // two of them are more than a page may have
		at, _ := strconv.Atoi(q.URL.Query().Get("apcontinue"))
		_, _ = fmt.Fprintf(w, `{"continue":{"apcontinue":%d},"query":{"allpages":[{"pageid":%d,"x":"%s"}]}}`, at+1, at, big)
	})
	u.Hits()
	if p := r.do("reader", http.MethodGet, "/pages?limit=2", ""); p.Status != 502 || len(u.Hits()) != 2 {
		t.Errorf("R06 a page of two answers: %d %.200s", p.Status, p.Body)
	}
	u.Answer(says("application/json", `{"continue":{"apcontinue":"x"},"query":{"allpages":[{"pageid":1}]}}`))
	wantError(t, r.do("reader", http.MethodGet, "/pages", ""), 502, "upstream_error", "")
	if n := len(u.Hits()); n != 2 {
		t.Errorf("R06 %d requests in a circle", n)
	}
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Query().Has("apcontinue") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		wikiPages(50)(w, q)
	})
	wantError(t, r.do("reader", http.MethodGet, "/pages", ""), 403, "forbidden", "")
	u.Answer(says("text/html", "<html>"))
	wantError(t, r.do("reader", http.MethodGet, "/pages", ""), 502, "upstream_error", "")
}

// R05: a list that its API cut short has no total, or is followed.
func TestIncompleteListHasNoTotal(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded("to "+u.Addr+followed+`
	resource things {
		list {
			items /items
			paginate local
			complete when /continue missing
		}
	}
	`))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct {
		name, path, body string
		total            string
		next             bool
	}{
		{"complete", "/things?limit=2", `{"items":[{"id":1},{"id":2},{"id":3}]}`, "3", true},
		{"not complete", "/things?limit=2", `{"items":[{"id":1},{"id":2},{"id":3}],"continue":{}}`, "null", true},
		{"not complete, the last that came", "/things?limit=2&page=2", `{"continue":1,"items":[{"id":1},{"id":2},{"id":3}]}`, "null", false},
		{"followed, and complete", "/parts?limit=1", `{"query":{"allpages":[{"id":1},{"id":2}]},"batchcomplete":true}`, "2", true},
		{"followed, and not complete at its end", "/parts?limit=1", `{"query":{"allpages":[{"id":1},{"id":2}]}}`, "null", true},
	} {
		u.Answer(says("application/json", c.body))
		p := r.do("reader", http.MethodGet, c.path, "")
		if p.Status != 200 || !strings.Contains(p.Body, `"total":`+c.total+`,`) || (linked(p, "next") != "") != c.next {
			t.Errorf("R05 %s: %d %s %s", c.name, p.Status, p.Body, p.Header.Get("Link"))
		}
	}
}

// R05: a length at which APIs cut lists is told of once, where nothing says whether it did.
func TestSuspiciouslyRoundListLengthIsLogged(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, strings.Replace(worded("to "+u.Addr+`
	resource whole {
		list {
			paginate local
		}
	}
	resource sure {
		list {
			paginate local
			complete when /x missing
		}
	}
	`), "output discard", "output file $DIR/log", 1))
	r := &rig{g, t, make(map[string]string)}
	answer := func(n int) {
		list := make([]map[string]int, n)
		body, _ := json.Marshal(list)
		u.Answer(says("application/json", string(bytes.ReplaceAll(body, []byte("null"), []byte(`{"id":1}`)))))
	}
	for _, n := range []int{7, 30, 101} {
		answer(n)
		r.do("reader", http.MethodGet, "/whole", "")
	}
	answer(100)
	for range 2 {
		if p := r.do("reader", http.MethodGet, "/whole", ""); !strings.Contains(p.Body, `"total":100,`) {
			t.Errorf("R05 %s", p.Body)
		}
		r.do("reader", http.MethodGet, "/sure", "")
	}
	text, err := os.ReadFile(filepath.Join(g.Dir, "log"))
	if n := strings.Count(string(text), "takes this list for whole"); err != nil || n != 1 || !strings.Contains(string(text), `"items":100`) || strings.Contains(string(text), `"resource":"sure"`) {
		t.Errorf("R05 %v: %d lines\n%s", err, n, text)
	}
}
