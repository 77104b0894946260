package restapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// byCursor is a list that is read by cursors, as MediaWiki has them.
const byCursor = `
	resource pages {
		upstream GET /pages /api.php?list=allpages
		upstream GET /pages/{id} /api.php?page={id}
		list {
			send limit aplimit
			cursor continue /continue/continue
			cursor apcontinue /continue/apcontinue
			filter category=cat
			sort title
			items /query/allpages
		}
		item /page
		etag
		rename id=pageid
		nested notes {
			upstream GET /pages/{id}/notes /api.php?list=allpages&of={id}
			list {
				send limit aplimit
				cursor continue /continue/continue
				cursor apcontinue /continue/apcontinue
				items /query/allpages
			}
		}
	}
	resource posts {
		list {
			send limit per_page
			total header X-Total
			cursor after /next
			items /items
			empty_when /code == no_more gone_now
		}
	}
`

// wikiPages answers with so many pages, from the one at apcontinue on.
func wikiPages(total int) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		asked := q.URL.Query()
		from, limit := 0, 10
		_, _ = fmt.Sscan(strings.TrimPrefix(asked.Get("apcontinue"), "P|"), &from)
		_, _ = fmt.Sscan(asked.Get("aplimit"), &limit)
		var pages []map[string]int
		for i := from; i < min(from+limit, total); i++ {
			pages = append(pages, map[string]int{"pageid": i})
		}
		answer := map[string]any{"query": map[string]any{"allpages": pages}}
		if from+limit < total {
			answer["continue"] = map[string]any{"continue": "-||", "apcontinue": fmt.Sprintf("P|%d", from+limit)}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

type cursorPage struct {
	Data       []struct{ ID int }
	Pagination struct {
		Total, TotalPages *int
		Page, Limit       int
		NextCursor        *string `json:"next_cursor"`
	}
}

// linked is the address of a relation in a Link header.
func linked(p harness.Page, rel string) string {
	for link := range strings.SplitSeq(p.Header.Get("Link"), ", ") {
		if to, ok := strings.CutSuffix(link, `>; rel="`+rel+`"`); ok {
			return strings.TrimPrefix(to, "<")
		}
	}
	return ""
}

// R06: a list of an API that has cursors is read by its next links, to the end.
func TestCursorListIsReadByNextLinks(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded("to "+u.Addr+"\nopenapi\n"+byCursor))
	r := &rig{g, t, make(map[string]string)}
	u.Answer(wikiPages(47))
	seen, pages := 0, 0
	for at := "/pages?limit=10&category=a%26b"; at != ""; pages++ {
		p := r.do("reader", http.MethodGet, at, "")
		got := read[cursorPage](t, p, 200)
		for _, d := range got.Data {
			if d.ID != seen {
				t.Fatalf("R06 %d instead of %d", d.ID, seen)
			}
			seen++
		}
		hit := u.Hits()[0].URL.Query()
		if hit.Has("page") || hit.Has("offset") || hit.Has("cursor") || hit.Get("aplimit") != "10" || hit.Get("cat") != "a&b" || pages > 0 && hit.Get("continue") != "-||" {
			t.Errorf("R06 %v", hit)
		}
		if got.Pagination.Page != pages+1 || got.Pagination.Limit != 10 || got.Pagination.Total != nil || linked(p, "first") != "/pages?category=a%26b&limit=10" || linked(p, "prev")+linked(p, "last") != "" {
			t.Errorf("R06 %+v %s", got.Pagination, p.Header.Get("Link"))
		}
		at = linked(p, "next")
		if (at == "") != (got.Pagination.NextCursor == nil) || strings.Contains(at, "continue") || strings.Contains(p.Body, "P|") {
			t.Errorf("R06 %s %s", at, p.Body)
		}
	}
	if seen != 47 || pages != 5 {
		t.Errorf("R06 %d items on %d pages", seen, pages)
	}
	document := r.do("reader", http.MethodGet, "/openapi.json", "")
	if !strings.Contains(document.Body, `"name":"cursor"`) || !strings.Contains(document.Body, `"CursorPagination"`) {
		t.Errorf("R06 the description: %s", document.Body)
	}
}

// R06: a page that has not changed is not sent again, and its cursor is the caller's own all the same.
func TestCursorPageHasAnETag(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded("to "+u.Addr+byCursor))
	r := &rig{g, t, make(map[string]string)}
	u.Answer(wikiPages(50))
	first := r.do("reader", http.MethodGet, "/pages?limit=5", "")
	again := r.do("reader", http.MethodGet, "/pages?limit=5", "")
	tag := first.Header.Get("Etag")
	if tag == "" || again.Header.Get("Etag") != tag || again.Body != first.Body || linked(again, "next") != linked(first, "next") {
		t.Errorf("R06 %s %s, %s %s", tag, first.Body, again.Header.Get("Etag"), again.Body)
	}
	if p := r.do("reader", http.MethodGet, "/pages?limit=5", "", "If-None-Match", tag); p.Status != 304 || p.Body != "" {
		t.Errorf("R06 %d %s", p.Status, p.Body)
	}
	second := r.do("reader", http.MethodGet, linked(first, "next"), "")
	if p := r.do("reader", http.MethodGet, linked(first, "next"), "", "If-None-Match", second.Header.Get("Etag")); p.Status != 304 || second.Header.Get("Etag") == tag {
		t.Errorf("R06 the second page: %d %s", p.Status, second.Header.Get("Etag"))
	}
	other := r.do("writer", http.MethodGet, "/pages?limit=5", "")
	if at := linked(other, "next"); at == "" || at == linked(first, "next") {
		t.Errorf("R06 the cursor of another caller is %s", at)
	}
	wantError(t, r.do("writer", http.MethodGet, linked(first, "next"), ""), 400, "invalid_parameter", "cursor")
	u.Answer(wikiPages(50 + 1)) // what this page has did not change
	if p := r.do("reader", http.MethodGet, "/pages?limit=5", "", "If-None-Match", tag); p.Status != 304 {
		t.Errorf("R06 %d", p.Status)
	}
	u.Answer(wikiPages(3))
	if p := r.do("reader", http.MethodGet, "/pages?limit=5", "", "If-None-Match", tag); p.Status != 200 {
		t.Errorf("R06 a page that has changed: %d", p.Status)
	}
}

// R06: a cursor is of no use but where it was made, and nobody can make one.
func TestCursorWorksOnlyForItsList(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded("to "+u.Addr+byCursor))
	r := &rig{g, t, make(map[string]string)}
	u.Answer(wikiPages(50))
	next := func(client, path string) string {
		to, err := url.Parse(linked(r.do(client, http.MethodGet, path, ""), "next"))
		if err != nil || to.Query().Get("cursor") == "" {
			t.Fatalf("no cursor: %v %v", to, err)
		}
		return to.Query().Get("cursor")
	}
	own := next("reader", "/pages?limit=5&category=a")
	note := next("reader", "/pages/1/notes?limit=5")
	last := own[:len(own)-2] + map[bool]string{true: "AA", false: "BB"}[!strings.HasSuffix(own, "AA")]
	u.Hits()
	for name, c := range map[string]struct{ client, path string }{
		"another list":         {"reader", "/pages/1/notes?limit=5&cursor=" + own},
		"the list it is below": {"reader", "/pages?limit=5&cursor=" + note},
		"another parent":       {"reader", "/pages/2/notes?limit=5&cursor=" + note},
		"another filter":       {"reader", "/pages?limit=5&category=b&cursor=" + own},
		"no filter":            {"reader", "/pages?limit=5&cursor=" + own},
		"another order":        {"reader", "/pages?limit=5&category=a&sort=title&cursor=" + own},
		"another limit":        {"reader", "/pages?limit=6&category=a&cursor=" + own},
		"another caller":       {"writer", "/pages?limit=5&category=a&cursor=" + own},
		"changed":              {"reader", "/pages?limit=5&category=a&cursor=" + last},
		"cut":                  {"reader", "/pages?limit=5&category=a&cursor=" + own[:20]},
		"the API's own":        {"reader", "/pages?limit=5&category=a&cursor=P%7C5"},
		"long":                 {"reader", "/pages?limit=5&category=a&cursor=" + strings.Repeat("A", 4097)},
		"nothing":              {"reader", "/pages?limit=5&category=a&cursor="},
		"twice":                {"reader", "/pages?limit=5&category=a&cursor=" + own + "&cursor=" + own},
	} {
		p := r.do(c.client, http.MethodGet, c.path, "")
		if p.Status != 400 {
			t.Errorf("R06 %s: %d %s", name, p.Status, p.Body)
			continue
		}
		wantError(t, p, 400, "invalid_parameter", "cursor")
	}
	wantError(t, r.do("reader", http.MethodGet, "/pages?page=2", ""), 400, "invalid_parameter", "page")
	wantError(t, r.do("reader", http.MethodGet, "/pages?apcontinue=P", ""), 400, "invalid_parameter", "apcontinue")
	if n := len(u.Hits()); n != 0 {
		t.Errorf("R06 %d requests that are refused were sent", n)
	}
	// It lives through a reload.
	g.Load(t, worded("to "+u.Addr+byCursor))
	if p := r.do("reader", http.MethodGet, "/pages?limit=5&category=a&cursor="+own, ""); p.Status != 200 {
		t.Errorf("R06 after a reload: %d %s", p.Status, p.Body)
	}
}

// R06: a version that Accept names may have another API, like one that the path names.
func TestCursorWorksOnlyForItsVersion(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded("vendor acme\nto "+u.Addr+byCursor+"version v1 {\nto "+u.Addr+byCursor+"}\nversion v2 {\nto "+u.Addr+byCursor+"}\n"))
	r := &rig{g, t, make(map[string]string)}
	u.Answer(wikiPages(50))
	accept := map[string]string{"none": "application/json", "v1": "application/vnd.acme.v1+json", "v2": "application/vnd.acme.v2+json"}
	for from := range accept {
		next := linked(r.do("reader", http.MethodGet, "/pages?limit=5", "", "Accept", accept[from]), "next")
		for to := range accept {
			p := r.do("reader", http.MethodGet, next, "", "Accept", accept[to])
			if to == from && p.Status != 200 || to != from && p.Status != 400 {
				t.Errorf("R06 a cursor of %s at %s: %d", from, to, p.Status)
			}
		}
	}
	next := linked(r.do("reader", http.MethodGet, "/v1/pages?limit=5", "", "Accept", accept["v1"]), "next")
	if p := r.do("reader", http.MethodGet, next, ""); p.Status != 200 {
		t.Errorf("R06 the version is in the path, and no longer in Accept: %d", p.Status)
	}
}

// R06: whatever an API says of its next page, no client loses items without noticing.
func TestUpstreamNextPageForms(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded("to "+u.Addr+byCursor))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct {
		name, body string
		status     int
		more       bool
	}{
		{"null", `{"items":[{"id":1}],"next":null}`, 200, false},
		{"false", `{"items":[{"id":1}],"next":false}`, 200, false},
		{"nothing", `{"items":[{"id":1}],"next":""}`, 200, false},
		{"none", `{"items":[{"id":1}]}`, 200, false},
		{"a number", `{"next":17,"items":[{"id":1}]}`, 200, true},
		{"no items, and more", `{"items":[],"next":"x"}`, 200, true},
		{"as long as can be", `{"items":[],"next":"` + strings.Repeat("x", 2048-len("after")) + `"}`, 200, true},
		{"as long, of signs", `{"items":[],"next":"` + strings.Repeat("<", 2048-len("after")) + `"}`, 200, true},
		{"too long", `{"items":[],"next":"` + strings.Repeat("x", 2049-len("after")) + `"}`, 502, false},
		{"much too long", `{"items":[],"next":"` + strings.Repeat("x", 9000) + `"}`, 502, false},
		{"an object", `{"items":[],"next":{"x":1}}`, 502, false},
		{"true", `{"items":[],"next":true}`, 502, false},
	} {
		u.Answer(says("application/json", c.body))
		p := r.do("reader", http.MethodGet, "/posts", "")
		if p.Status != c.status || (linked(p, "next") != "") != c.more {
			t.Errorf("R06 %s: %d %v %s", c.name, p.Status, p.Header, p.Body)
		}
		if next := linked(p, "next"); next != "" {
			if p := r.do("reader", http.MethodGet, next, ""); p.Status != 200 {
				t.Errorf("R06 behind %s: %d %s", c.name, p.Status, p.Body)
			}
		}
	}
	// More than were asked for stay on the page: the next one begins behind them.
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Total", "9")
		_, _ = io.WriteString(w, `{"items":[{"id":1},{"id":2},{"id":3}],"next":"x"}`)
	})
	got := read[cursorPage](t, r.do("reader", http.MethodGet, "/posts?limit=2", ""), 200)
	if len(got.Data) != 3 || got.Pagination.NextCursor == nil || *got.Pagination.Total != 9 {
		t.Errorf("R06 %+v", got)
	}
	// Behind a long page the cursor is in the body alone.
	u.Answer(says("application/json", `{"items":[{"id":1,"text":"`+strings.Repeat("x", 2<<20)+`"}],"next":"x"}`))
	p := r.do("reader", http.MethodGet, "/posts", "")
	if got := read[cursorPage](t, p, 200); got.Pagination.NextCursor == nil || linked(p, "next") != "" {
		t.Errorf("R06 %s", p.Header.Get("Link"))
	}
}

// R06: the error of an API for a page beyond the end is an empty page.
func TestUpstreamErrorCanMeanAnEmptyPage(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded(`
	to `+u.Addr+byCursor+`
	resource articles {
		list {
			send limit per_page
			items /result/list
			empty_when /code == rest_post_invalid_page_number
		}
		fail_when /ok == false status 422
	}
	`))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct {
		name, path, body string
		upstream, status int
	}{
		{"that error", "/articles?page=9", `{"code":"rest_post_invalid_page_number","message":"x","data":{"status":400}}`, 400, 200},
		{"that error with status 200", "/articles?page=9", `{"ok":false,"code":"rest_post_invalid_page_number"}`, 200, 200},
		{"another error", "/articles?page=9", `{"code":"rest_invalid_param","message":"x"}`, 400, 400},
		{"another failure", "/articles?page=9", `{"ok":false,"code":"x"}`, 200, 422},
		{"another answer", "/articles?page=9", `rest_post_invalid_page_number`, 400, 400},
		{"an item", "/articles/9", `{"code":"rest_post_invalid_page_number"}`, 400, 400},
		{"a list with a cursor", "/posts", `{"code":"gone_now"}`, 404, 200},
	} {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(c.upstream)
			_, _ = io.WriteString(w, c.body)
		})
		p := r.do("reader", http.MethodGet, c.path, "")
		if p.Status != c.status {
			t.Errorf("R06 %s: %d %s", c.name, p.Status, p.Body)
		}
		if c.status == 200 && !strings.HasPrefix(p.Body, `{"data":[],"pagination":{"total":null,"page":`) {
			t.Errorf("R06 %s: %s", c.name, p.Body)
		}
	}
}
