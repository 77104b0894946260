package restapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// worded is site with an api_rest in the words of a Caddyfile.
func worded(words string) string {
	return strings.Replace(site, "\trespond API_REST\n", "\tapi_rest {\n"+words+"\t}\n", 1)
}

// sample is the block that the documentation of the words shows.
const sample = `
	vendor acme
	to $LEGACY
	version v1 {
		strip_prefix
	}
	resource articles {
		upstream GET    /articles        /api.php?mod=article&act=list
		upstream GET    /articles/{id}   /api.php?mod=article&act=get&aid={id}
		upstream POST   /articles        /api.php?mod=article&act=add as form
		upstream PATCH  /articles/{id}   POST /api.php?mod=article&act=edit&aid={id} as form
		upstream DELETE /articles/{id}   POST /api.php?mod=article&act=del&aid={id}
		list {
			default 20
			max 100
			send page offset start
			send limit count
			sort created_at=ctime title=subject
			send sort order "{field} {dir}"
			state published=1 draft=0
			send state st
			items /result/list
			total /result/total
		}
		item /result
		id /aid
		rename title=subject created_at=ctime
		values state published=1 draft=0
		created 201 /result/aid
		deleted 204
		links self delete
		validate title required length 5..100
	}
	errors {
		from json /code /message
		fail_when /success == false status 422
	}
`

type listed1 struct {
	Data []struct {
		Title string
		State string
		Links []struct{ Rel, Method, Href string }
	}
	Pagination struct{ Total, Page, Limit, TotalPages int }
}

func TestCaddyfileServesTheLegacyAPI(t *testing.T) {
	g := harness.Prepare(t, "$LEGACY", legacy(t))
	g.Start(t, worded(sample))
	r := &rig{g, t, make(map[string]string)}
	p := r.do("writer", http.MethodGet, "/articles?limit=2&page=3&state=draft&sort=-created_at", "")
	var got listed1
	if err := json.Unmarshal([]byte(p.Body), &got); err != nil || p.Status != 200 || len(got.Data) != 2 || got.Pagination.Total != 62 || got.Pagination.Page != 3 || got.Data[0].State != "draft" {
		t.Fatalf("%v %d %s", err, p.Status, p.Body)
	}
	if p = r.do("writer", http.MethodGet, "/v1/articles/1001", ""); p.Status != 200 || !strings.Contains(p.Body, `"title":"Notes on railway bridges, part 1"`) || !strings.Contains(p.Body, `"href":"/v1/articles/1001"`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantError(t, r.do("writer", http.MethodGet, "/articles?state=lost", ""), 400, "invalid_parameter", "state")
	wantError(t, r.do("writer", http.MethodPost, "/articles", `{"title":"Tiny"}`), 400, "invalid_parameter", "title")
	p = r.do("writer", http.MethodPost, "/articles", `{"title":"Nine bridges","body":"x","state":"draft"}`)
	if at := p.Header.Get("Location"); p.Status != 201 || at != "/articles/1313" || !strings.Contains(p.Body, `"state":"draft"`) {
		t.Fatalf("%d %q %s", p.Status, at, p.Body)
	}
	if p = r.do("writer", http.MethodPatch, "/articles/1313", `{"state":"published"}`); p.Status != 200 || !strings.Contains(p.Body, `"state":"published"`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p = r.do("writer", http.MethodDelete, "/articles/1313", ""); p.Status != 204 || p.Body != "" {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantError(t, r.do("writer", http.MethodGet, "/articles/1313", ""), 422, "validation_failed", "")
	wantError(t, r.do("writer", http.MethodGet, "/api.php", ""), 404, "not_found", "")
}

// One line is enough in front of an API whose paths are already right.

// One line is enough in front of an API whose paths are already right.
func TestOneLineConfigWorks(t *testing.T) {
	g := harness.Prepare(t, "$LEGACY", legacy(t))
	g.Start(t, worded("to $LEGACY\nresource articles\n"))
	r := &rig{g, t, make(map[string]string)}
	if p := r.do("reader", http.MethodGet, "/articles/1001", ""); p.Status != 200 || !strings.HasPrefix(p.Body, `{"id":1001,`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := r.do("reader", http.MethodGet, "/articles?page=2&limit=5", ""); p.Status != 200 || !strings.Contains(p.Body, `"page":2`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantError(t, r.do("reader", http.MethodGet, "/nothing", ""), 404, "not_found", "")
	wantError(t, r.do("writer", http.MethodPut, "/articles", "{}"), 405, "method_not_allowed", "")
	if p := r.do("reader", http.MethodGet, "/articles/1001?x=1", ""); p.Status != 200 {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}
