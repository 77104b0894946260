package restapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// R08: nothing in the place of an item means that there is none.
func TestEmptyItemIsNotFound(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded(`
	to `+u.Addr+`
	resource things {
		item /result
		etag
		nested parts {
			item /query/parts/0
			rename id=pid
		}
	}
	resource names {
		rename id=aid
		links self
	}
	resource settings {
		upstream GET /settings /settings
		item /result
	}
	resource rules {
		item /result
		fail_when /result empty status 410 was_deleted
	}
	`))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/things/1", `{"result":[]}`, 404},
		{"/things/1", `{"result":[ ]}`, 404},
		{"/things/1", `{"result": { } }`, 404},
		{"/things/1", `{"result":null,"x":1}`, 404},
		{"/things/1", `{"result":false}`, 404},
		{"/things/1", `[]`, 404},
		{"/things/1", `null`, 404},
		{"/things/1", `{"result":0}`, 200},
		{"/things/1", `{"result":""}`, 200},
		{"/things/1", `{"result":[[]]}`, 200},
		{"/things/1", `{"result":{"a":{}}}`, 200},
		{"/things/1", `{"other":[]}`, 502},
		{"/things/1/parts/2", `{"query":{"parts":[]}}`, 404},
		{"/things/1/parts/2", `{"query":[]}`, 404},
		{"/things/1/parts/2", `{"query":{"parts":[{}]}}`, 404},
		{"/things/1/parts/2", `{"query":{"parts":[{"pid":2}]}}`, 200},
		{"/things/1/parts/2", `{"query":{"parts":{"7":{"pid":2}}}}`, 502},
		{"/names/1", `{}`, 404},
		{"/names/1", `[]`, 404},
		{"/names/1", `false`, 404},
		{"/names/1", `[1]`, 502},
		{"/names/1", `{"aid":1}`, 200},
		{"/settings", `{"result":{}}`, 200},
		{"/settings", `{"result":[]}`, 200},
		{"/rules/1", `{"result":[]}`, 410},
		{"/rules/1", `{"result":null}`, 410},
		{"/rules/1", `{"result":{}}`, 410},
		{"/rules/1", `{"result":{"id":1}}`, 200},
	} {
		u.Answer(says("application/json", c.body))
		p := r.do("reader", http.MethodGet, c.path, "")
		if p.Status != c.status {
			t.Errorf("R08 %s %s: %d %s", c.path, c.body, p.Status, p.Body)
		}
		if c.status == 404 {
			wantError(t, p, 404, "not_found", "")
			if head := r.do("reader", http.MethodHead, c.path, ""); head.Status != 404 {
				t.Errorf("R08 HEAD %s: %d", c.path, head.Status)
			}
		}
	}
	if n := r.Metric(t, `caddy_gatehouse_rest_translation_failures_total{reason="nothing"}`); n != 0 {
		t.Errorf("R08 %v failures are counted", n)
	}
}

// R08: what can only be made has no address to send its maker to.
func TestCreateOnlyResourceHasNoLocation(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded(`
	to `+u.Addr+`
	openapi
	resource orders {
		upstream POST /orders /orders
		upstream DELETE /orders/{id} /orders/{id}
		created 201
	}
	resource logs {
		upstream POST /logs /logs
		upstream PATCH /logs/{id} /logs/{id}
	}
	resource things
	`))
	r := &rig{g, t, make(map[string]string)}
	for _, path := range []string{"/orders", "/logs", "/things"} {
		for name, answer := range map[string]http.HandlerFunc{
			"an id": says("application/json", `{"id":7}`),
			"an address": func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Location", path+"/7")
				says("application/json", `{}`)(w, q)
			},
			"a redirect": func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, path+"/7", http.StatusSeeOther) },
		} {
			u.Answer(answer)
			p := r.do("writer", http.MethodPost, path, "{}")
			want := ""
			if path == "/things" {
				want = "/things/7"
			}
			status := 201
			if path == "/things" && name == "a redirect" {
				status = 303 // where no status is declared, the API's redirect stays
			}
			if p.Status != status || p.Header.Get("Location") != want {
				t.Errorf("R08 %s %s: %d %v", path, name, p.Status, p.Header)
			}
		}
	}
	document := r.do("reader", http.MethodGet, "/openapi.json", "")
	if strings.Count(document.Body, `"Location":`) != 1 {
		t.Errorf("R08 the description promises addresses: %s", document.Body)
	}
}

// R13: a filter can be required, and items have parameters of their own.
func TestRequiredAndItemParameters(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	u.Answer(says("application/json", `[{"id":1}]`))
	g.Start(t, worded(`
	to `+u.Addr+`
	openapi
	resource things {
		query lang fields=select
		list {
			filter category=cat required
			filter kind required news=1 blog
			filter author
		}
	}
	`))
	r := &rig{g, t, make(map[string]string)}
	for asked, field := range map[string]string{
		"":                              "category",
		"?kind=news":                    "category",
		"?category=a":                   "kind",
		"?category=&kind=news":          "category",
		"?category=a&kind=1":            "kind",
		"?cat=a&kind=news":              "cat",
		"?category=a&kind=news&lang=de": "lang",
		"/1?category=a":                 "category",
		"/1?lang=de&lang=en":            "lang",
		"/1?select=id":                  "select",
	} {
		wantError(t, r.do("reader", http.MethodGet, "/things"+asked, ""), 400, "invalid_parameter", field)
	}
	if n := len(u.Hits()); n != 0 {
		t.Errorf("R13 %d requests that are refused were sent", n)
	}
	for asked, sent := range map[string]string{
		"?category=a%26b&kind=news": "cat=a%26b&kind=1&limit=20&page=1",
		"/1?lang=de&fields=id,x":    "lang=de&select=id%2Cx",
		"/1":                        "",
	} {
		p := r.do("reader", http.MethodGet, "/things"+asked, "")
		if hits := u.Hits(); p.Status != 200 || len(hits) != 1 || hits[0].URL.RawQuery != sent {
			t.Errorf("R13 %s: %d %v", asked, p.Status, hits)
		}
	}
	document := r.do("reader", http.MethodGet, "/openapi.json", "").Body
	for _, name := range []string{`"name":"category","required":true`, `"name":"kind","required":true`, `"name":"author","required":false`, `"name":"lang","required":false`} {
		if !strings.Contains(document, name) {
			t.Errorf("R13 the description does not have %s", name)
		}
	}
}

// R05: GNU Mailman leaves an empty list out of its answer, also on a page beyond the end.
func TestListThatTheAPILeavesOutIsEmpty(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [
		{"path": "lists", "list": {"items": "/entries", "total": "/total_size", "send": {"limit": "count"}}},
		{"path": "rooms", "list": {"items": "/rooms", "empty_when": [{"pointer": "/message", "op": "==", "values": ["none"]}]}}]`)
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/lists", `{"start":0,"total_size":0,"http_etag":"x"}`, 200, `{"data":[],"pagination":{"total":0,"page":1,"limit":20,"total_pages":0}}`},
		{"/lists?page=3&limit=2", `{"start":4,"total_size":3}`, 200, `{"data":[],"pagination":{"total":3,"page":3,"limit":2,"total_pages":2}}`},
		{"/lists?page=2&limit=2", `{"start":2,"total_size":3}`, 502, ""},
		{"/lists", `{"error":"no database","total_size":0}`, 502, ""},
		{"/lists", `{"start":0}`, 502, ""},
		{"/rooms", `{"message":"none"}`, 200, `{"data":[],"pagination":{"total":null,"page":1,"limit":20,"total_pages":null}}`},
		{"/rooms", `{"message":"other"}`, 502, ""},
	} {
		u.Answer(says("application/json", c.body))
		if p := r.do("reader", http.MethodGet, c.path, ""); p.Status != c.status || c.want != "" && p.Body != c.want {
			t.Errorf("%s of %s: %d %s", c.path, c.body, p.Status, p.Body)
		}
	}
}
