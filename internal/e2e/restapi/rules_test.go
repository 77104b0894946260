package restapi

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// paged are lists of several kinds.
const paged = `"vendor": "acme", "versions": [{"name": "v1", "strip_prefix": true}], "upstream": $TO, "resources": [
	{"path": "articles", "list": {
		"send": {"offset": "start", "limit": "count", "sort": "by", "direction": "dir", "descending": "DESC", "state": "st"},
		"sort": [{"name": "created_at", "upstream": "ctime"}], "states": [{"name": "draft", "upstream": "0"}],
		"filters": [{"name": "tag", "upstream": "t"}, {"name": "kind", "values": [{"name": "news", "upstream": "1"}]}],
		"items": "/list", "total": "/total"}},
	{"path": "pages", "list": {"total_header": "Content-Range"}},
	{"path": "all", "list": {"paginate": "local", "items": "/list"}},
	{"path": "blind", "list": {}}]`

func TestListParametersAreSentOrRefused(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, paged)
	u.Answer(says("application/json", `{"list":[{"id":1}],"total":"41"}`))
	for asked, sent := range map[string]string{
		"": "count=20&start=0",
		"page=3&limit=7&sort=-created_at&state=draft&tag=a%26b%3D%2F&kind=news": "by=ctime&count=7&dir=DESC&kind=1&st=0&start=14&t=a%26b%3D%2F",
		"sort=created_at": "by=ctime&count=20&dir=asc&start=0",
	} {
		p := r.do("reader", http.MethodGet, "/v1/articles?"+asked, "")
		if hits := u.Hits(); p.Status != 200 || len(hits) != 1 || hits[0].URL.RawQuery != sent {
			t.Errorf("%s: %d %v", asked, p.Status, hits)
		}
	}
	for asked, field := range map[string]string{
		"page=0": "page", "page=01": "page", "page=%2B1": "page", "page=1e3": "page", "page=": "page", "page=99999999999999999999": "page", "page=1&page=1": "page",
		"limit=101": "limit", "sort=ctime": "sort", "state=0": "state", "kind=1": "kind", "tag=": "tag", "t=x": "t", "start=5": "start", "limit[]=5": "limit[]",
	} {
		p := r.do("reader", http.MethodGet, "/v1/articles?"+asked, "")
		wantError(t, p, 400, "invalid_parameter", field)
		// S03: the message makes sense without the field beside it.
		refused := read[struct{ Error struct{ Message string } }](t, p, 400).Error.Message
		if !strings.HasPrefix(refused, field+" ") || strings.HasSuffix(refused, ".") {
			t.Errorf("S03 %s: %q", asked, refused)
		}
	}
	if p := r.do("reader", http.MethodGet, "/v1/articles?limit=0", ""); !strings.Contains(p.Body, `"message":"limit must be a number from 1 to `) {
		t.Errorf("S03 %s", p.Body)
	}
	wantError(t, r.do("reader", http.MethodGet, "/v1/articles?page=%zz", ""), 400, "bad_request", "")
	wantError(t, r.do("reader", http.MethodGet, "/v1/articles/1?page=1", ""), 400, "invalid_parameter", "page")
	if n := len(u.Hits()); n != 0 {
		t.Errorf("%d requests that are refused were sent", n)
	}
}

func TestListPosition(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, paged)
	const long = `{"list":[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]}`
	for _, c := range []struct {
		path, ranged, body string
		want, links        string
	}{
		{
			"/v1/articles?tag=a%26&page=2&limit=2", "", `{"list":[{"id":3},{"id":4},{"id":5}],"total":"5"}`,
			`{"data":[{"id":3},{"id":4}],"pagination":{"total":5,"page":2,"limit":2,"total_pages":3}}`,
			`</v1/articles?limit=2&page=1&tag=a%26>; rel="first", </v1/articles?limit=2&page=1&tag=a%26>; rel="prev", </v1/articles?limit=2&page=3&tag=a%26>; rel="next", </v1/articles?limit=2&page=3&tag=a%26>; rel="last"`,
		},
		{
			"/articles?page=9", "", `{"total":5,"list":null}`, `{"data":[],"pagination":{"total":5,"page":9,"limit":20,"total_pages":1}}`,
			`</articles?limit=20&page=1>; rel="first", </articles?limit=20&page=1>; rel="prev", </articles?limit=20&page=1>; rel="last"`,
		},
		{
			"/articles", "", `{"total":99999999999999999999,"list":[]}`, `{"data":[],"pagination":{"total":null,"page":1,"limit":20,"total_pages":null}}`,
			`</articles?limit=20&page=1>; rel="first"`,
		},
		{
			"/articles", "", `{"total":9223372036854775807,"list":[]}`, `{"data":[],"pagination":{"total":9223372036854775807,"page":1,"limit":20,"total_pages":461168601842738791}}`,
			`</articles?limit=20&page=1>; rel="first", </articles?limit=20&page=2>; rel="next"`,
		},
		{
			"/pages?limit=1", "items 0-0/57", `[{"id":1}]`, `{"data":[{"id":1}],"pagination":{"total":57,"page":1,"limit":1,"total_pages":57}}`,
			`</pages?limit=1&page=1>; rel="first", </pages?limit=1&page=2>; rel="next", </pages?limit=1&page=57>; rel="last"`,
		},
		{
			"/all?page=2&limit=2", "", long, `{"data":[{"id":3},{"id":4}],"pagination":{"total":5,"page":2,"limit":2,"total_pages":3}}`,
			`</all?limit=2&page=1>; rel="first", </all?limit=2&page=1>; rel="prev", </all?limit=2&page=3>; rel="next", </all?limit=2&page=3>; rel="last"`,
		},
		{
			"/all?page=7&limit=2", "", long, `{"data":[],"pagination":{"total":5,"page":7,"limit":2,"total_pages":3}}`,
			`</all?limit=2&page=1>; rel="first", </all?limit=2&page=3>; rel="prev", </all?limit=2&page=3>; rel="last"`,
		},
		{
			"/blind?page=2&limit=2", "", `[{"id":3},{"id":4}]`, `{"data":[{"id":3},{"id":4}],"pagination":{"total":null,"page":2,"limit":2,"total_pages":null}}`,
			`</blind?limit=2&page=1>; rel="first", </blind?limit=2&page=1>; rel="prev", </blind?limit=2&page=3>; rel="next"`,
		},
		{
			"/blind?page=3&limit=2", "", `[{"id":5}]`, `{"data":[{"id":5}],"pagination":{"total":null,"page":3,"limit":2,"total_pages":null}}`,
			`</blind?limit=2&page=1>; rel="first", </blind?limit=2&page=2>; rel="prev"`,
		},
	} {
		u.Answer(func(w http.ResponseWriter, q *http.Request) {
			if c.ranged != "" {
				w.Header().Set("Content-Range", c.ranged)
			}
			says("application/json", c.body)(w, q)
		})
		p := r.do("reader", http.MethodGet, c.path, "")
		if p.Status != 200 || p.Body != c.want || p.Header.Get("Link") != c.links {
			t.Errorf("%s: %d %s\n%s", c.path, p.Status, p.Body, p.Header.Get("Link"))
		}
		for link := range strings.SplitSeq(p.Header.Get("Link"), ", ") {
			to, _, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
			if p := r.do("reader", http.MethodGet, to, ""); p.Status != 200 {
				t.Errorf("%s leads to %d %s", link, p.Status, p.Body)
			}
		}
	}
}

// below has the guard in front of, and behind, what takes the path apart.
var below = site[:strings.Index(site, "http://$API {")] + `http://$API {
	route {
		GUARD_FRONT
		handle_path /shop/* {
			GUARD_BEHIND
			respond API_REST
		}
	}
}
`

func TestLinksMatchTheCallersPermissions(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(says("application/json", `{"id":"a b/c","links":"x"}`))
	const linked = `"upstream": $TO, "versions": [{"name": "v1", "strip_prefix": true}], "resources": [{"path": "articles/{id}/notes", "routes": [
		{"method": "GET", "path": "/articles/{id:.+}/notes/{note:.+}", "upstream": "/n?a={id}&n={note}"},
		{"method": "DELETE", "path": "/articles/{id}/notes/{note}", "upstream": "/n?a={id}&n={note}"}],
		"links": [{"rel": "self"}, {"rel": "delete"}, {"rel": "article", "path": "/articles/{id}"}, {"rel": "secrets", "path": "/secrets/{note}"},
			{"rel": "publish", "method": "POST", "path": "/articles/{id}/notes/{note}/publish?by={id}"}]}]`
	guard := func(prefix string) string {
		return `oauth_guard {
			scope read GET ` + prefix + `/v1/articles/* ` + prefix + `/articles/*
			scope write POST,DELETE ` + prefix + `/v1/articles/* ` + prefix + `/articles/*
			scope write GET ` + prefix + `/v1/secrets/*
			otherwise deny
			allow_encoded_slash
		}`
	}
	for place, caddyfile := range map[string]string{
		"in front": strings.NewReplacer("GUARD_FRONT", guard("/shop"), "GUARD_BEHIND", "").Replace(below),
		"behind":   strings.NewReplacer("GUARD_FRONT", "", "GUARD_BEHIND", guard("")).Replace(below),
	} {
		t.Run(place, func(t *testing.T) {
			g := harness.Prepare(t)
			r := &rig{g, t, make(map[string]string)}
			g.StartChanged(t, caddyfile, r.with(u.Addr, linked))
			const at = `/shop/v1/articles/%7Bnote%7D/notes/a%20b%2Fc`
			const article = `{"rel":"article","method":"GET","href":"/shop/v1/articles/%7Bnote%7D"}`
			self := func(rel, method string) string {
				return `{"rel":"` + rel + `","method":"` + method + `","href":"` + at + `"}`
			}
			for client, want := range map[string]string{
				"reader": self("self", "GET") + "," + article,
				"writer": self("self", "GET") + "," + self("delete", "DELETE") + "," + article + `,{"rel":"secrets","method":"GET","href":"/shop/v1/secrets/a%20b%2Fc"},` +
					`{"rel":"publish","method":"POST","href":"` + at + `/publish?by=%7Bnote%7D"}`,
			} {
				// As the guard writes it, and as a client may.
				for _, path := range []string{at, "/shop/v1/articles/%7bnote%7d/%6eotes/a%20b%2fc"} {
					p := r.do(client, http.MethodGet, path, "")
					if p.Status != 200 || p.Body != `{"id":"a b/c","links":[`+want+`]}` {
						t.Errorf("%s %s: %d %s", client, path, p.Status, p.Body)
					}
				}
			}
		})
	}
}

func TestBodyIsValidatedAgainstItsSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, []byte(`{"openapi": "3.0.3", "components": {"schemas": {"Article": {
		"type": "object", "required": ["id", "title"], "additionalProperties": false, "properties": {
			"id": {"type": "integer", "readOnly": true}, "title": {"type": "string", "minLength": 5, "maxLength": 100},
			"rank": {"type": "integer", "maximum": 9007199254740993, "nullable": true},
			"author": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	u := newRecorded(t, says("application/json", `{"id":1}`))
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "articles", "schema": {"file": "`+file+`", "pointer": "/components/schemas/Article"}}, {"path": "notes", "validate": [
		{"field": "title", "required": true, "length": [5, 100]}, {"field": "/author/name", "required": true}, {"field": "due", "format": "date"}, {"field": "*", "readonly": true}]}]`)
	for _, c := range []struct{ method, path, body, field string }{
		{"POST", "/articles", `{}`, "title"},
		{"POST", "/articles", `{"title":"Hé😀x"}`, "title"},
		{"PUT", "/articles/1", `{"rank":1}`, "title"},
		{"PATCH", "/articles/1", `{"rank":9007199254740994}`, "rank"},
		{"PATCH", "/articles/1", `{"id":7}`, "id"},
		{"PATCH", "/articles/1", `{"other":7}`, "other"},
		{"PATCH", "/articles/1", `{"author":{}}`, "/author/name"},
		{"PATCH", "/articles/1", `{"author":{"name":"x","name":"y"}}`, "/author/name"},
		{"PATCH", "/articles/1", `{"rank":1e999999999}`, "rank"},
		{"POST", "/notes", `{}`, "title"},
		{"POST", "/notes", `{"title":"Hello","author":{}}`, "/author/name"},
		{"PUT", "/notes/1", `{"author":{"name":"x"}}`, "title"},
		{"PATCH", "/notes/1", `{"author":{"name":"x","Name":"y"}}`, "/author/Name"},                    // Go and .NET ignore case
		{"PATCH", "/notes/1", `{"author":{"name":"x","name\u0000":"y"}}`, "/author/name\x00"},          // to json-c the name ends there
		{"PATCH", "/notes/1", `{"author":{"name":"x","__proto__":{"name":"y"}}}`, "/author/__proto__"}, // JavaScript's Object.assign
		{"PATCH", "/notes/1", `{"title":null}`, "title"},
		{"PATCH", "/notes/1", `{"title":"Hi"}`, "title"},
		{"PATCH", "/notes/1", `{"due":"2026-02-30"}`, "due"},
		{"PATCH", "/notes/1", `{"admin":true}`, "admin"},
	} {
		wantError(t, r.do("writer", c.method, c.path, c.body), 400, "invalid_parameter", c.field)
	}
	for _, body := range []string{`[]`, `{} {}`, `{"title":"Hello"}x`, `{"a":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`, "{\"title\":\"Hello\xff\"}"} {
		wantError(t, r.do("writer", "POST", "/articles", body), 400, "bad_request", "")
	}
	if n := len(u.Hits()); n != 0 {
		t.Errorf("%d requests that are refused were sent", n)
	}
	for _, c := range [][3]string{
		{"POST", "/articles", `{ "title" : "H\u00e9llo", "rank":9007199254740993 }`},
		{"PATCH", "/articles/1", `{"rank":null}`},
		{"PATCH", "/notes/1", `{"due":"2026-02-28"}`},
	} {
		p := r.do("writer", c[0], c[1], c[2])
		if _, body := u.last(t); p.Status != map[string]int{"POST": 201, "PATCH": 200}[c[0]] || body != c[2] {
			t.Errorf("%v: %d %s, sent %s", c, p.Status, p.Body, body)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte("{\n\"type\": \"strin\"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.ChangeConfigs(r.with(u.Addr, `"upstream": $TO, "resources": [{"path": "articles", "schema": {"file": "`+bad+`"}}]`))
	if err := r.TryLoad(site); err == nil || !strings.Contains(err.Error(), "resource articles: schema "+bad+": at type: ") {
		t.Error(err)
	}
}

func TestDeprecatedVersionSaysSoInEveryAnswer(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Vary", "Accept-Encoding")
		w.Header().Set("Deprecation", "true")
		switch q.URL.Path {
		case "/things/broken":
			http.Error(w, "x", 500)
		case "/things/gone":
			http.Error(w, "x", 404)
		case "/things/moved":
			http.Redirect(w, q, "/things/1", http.StatusMovedPermanently)
		case "/things/aborts":
			panic(http.ErrAbortHandler)
		case "/things/nothing":
			w.WriteHeader(http.StatusNoContent)
		case "/things":
			_, _ = w.Write([]byte(`[{"id":1}]`))
		default:
			_, _ = w.Write([]byte(`{"id":1}`))
		}
	})
	const members = `"vendor": "acme", "upstream": $TO, "versions": [{"name": "v1", "strip_prefix": true, "deprecated": "2026-01-01T00:00:00Z",
		"sunset": "2099-01-01T00:00:00Z", "successor": "/v2", "doc": "https://api.example/moving"},
		{"name": "v0", "deprecated": "2019-01-01T00:00:00Z", "sunset": "2020-01-01T00:00:00Z", "gone": true, "successor": "/v2", "doc": "https://api.example/moving"}],
		"resources": [{"path": "things", "list": {}}]`
	check := func(r *rig, prefix string) {
		t.Helper()
		for _, c := range []struct {
			method, path string
			accept       []string
			status       int
			old          bool
		}{
			{"GET", "/v1/things/1", nil, 200, true},
			{"HEAD", "/v1/things/1", nil, 200, true},
			{"GET", "/v1/things", nil, 200, true},
			{"OPTIONS", "/v1/things/1", nil, 204, true},
			{"GET", "/v1/things/nothing", nil, 204, true},
			{"GET", "/v1/things/moved", nil, 301, true},
			{"GET", "/v1/things?page=0", nil, 400, true},
			{"GET", "/v1/other", nil, 404, true},
			{"GET", "/v1/things/gone", nil, 404, true},
			{"PUT", "/v1/things", nil, 405, true},
			{"GET", "/v1/things/1", []string{"application/vnd.acme.v9+json"}, 406, true},
			{"GET", "/v1/things/broken", nil, 500, true},
			{"GET", "/v1/things/aborts", nil, 502, true},
			{"GET", "/v0/things/1", nil, 410, true},
			{"GET", "/%760/things/1", nil, 410, true},
			{"GET", "/things/1", []string{"application/vnd.acme.v1+json"}, 200, true},
			{"GET", "/things/1", []string{"text/html", "application/vnd.acme.v1+json;q=0.5, application/json;q=0.4"}, 200, true},
			{"GET", "/things/1", []string{"application/vnd.acme.v0+json, */*"}, 410, true},
			{"GET", "/things/1", nil, 200, false},
			{"GET", "/v9/things/1", nil, 404, false},
			{"GET", "/things/1", []string{"application/vnd.acme.v9+json"}, 406, false},
		} {
			req, err := http.NewRequest(c.method, r.API+prefix+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header["Accept"] = c.accept
			if r.tokens != nil {
				req.Header.Set("Authorization", "Bearer "+r.token("writer"))
			}
			p := harness.Do(t, harness.NewBrowser(t, "").Client, req)
			h := p.Header
			links := strings.Join(h["Link"], ", ")
			old := strings.HasPrefix(h.Get("Deprecation"), "@") && len(h["Deprecation"]) == 1 && len(h["Sunset"]) == 1 &&
				strings.Count(links, `</v2>; rel="successor-version"`) == 1 && strings.Count(links, `<https://api.example/moving>; rel="deprecation sunset"`) == 1
			if p.Status != c.status || old != c.old || len(h["Vary"]) != 1 || !httpguts.HeaderValuesContainsToken(h["Vary"], "Accept") {
				t.Errorf("%s %s %s: %d %v %s", c.method, prefix+c.path, c.accept, p.Status, h, p.Body)
			}
		}
	}
	check(start(t, u.Addr, members), "")
	g := harness.Prepare(t)
	r := &rig{g, t, nil}
	g.ChangeConfigs(r.with(u.Addr, members))
	g.Load(t, alone)
	check(r, "/api")
}

// On every level, only members with a rule reach the API, in whatever way it would read others.
func TestOnlyMembersWithRulesAreSent(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "users", "validate": [
		{"field": "name"}, {"field": "/home/city"}, {"field": "*", "readonly": true}]}]`)
	u.Answer(says("application/json", `{"id":1}`))
	if p := r.do("writer", http.MethodPost, "/users", `{"name":"Li","home":{"city":"Oslo"}}`); p.Status != 201 || len(u.Hits()) != 1 {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	for body, field := range map[string]string{
		`{"name":"Li","role":"admin"}`: "role", `{"$set":{"role":"admin"}}`: "$set", `{"home.role":"admin"}`: "home.role",
		`{"home":{"city":"Oslo","role":"admin"}}`: "/home/role", `{"home":{"$ne":1}}`: "/home/$ne",
	} {
		wantError(t, r.do("writer", http.MethodPost, "/users", body), 400, "invalid_parameter", field)
	}
	if n := len(u.Hits()); n != 0 {
		t.Errorf("%d requests that are refused were sent", n)
	}
}

// R06: the guard is asked about the address of each item, also in a list that is not declared.
func TestLinksInAnUndeclaredListMatchTheCallersPermissions(t *testing.T) {
	u := harness.NewUpstream(t)
	r := startIn(t, "scope write POST,PUT,PATCH,DELETE /*", "scope write DELETE /*/*", u.Addr,
		`"upstream": $TO, "resources": [{"path": "pets", "links": [{"rel": "self"}, {"rel": "delete"}], "nested": [{"path": "toys", "links": [{"rel": "delete"}]}]}]`)
	link := func(rel, method, path string) string {
		return `{"rel":"` + rel + `","method":"` + method + `","href":"` + path + `"}`
	}
	for _, c := range []struct{ client, path, body, want string }{
		{"writer", "/pets", `[{"id":2}]`, `"data":[{"id":2,"links":[` + link("self", "GET", "/pets/2") + "," + link("delete", "DELETE", "/pets/2") + `]}]`},
		{"reader", "/pets", `[{"id":2}]`, `"data":[{"id":2,"links":[` + link("self", "GET", "/pets/2") + `]}]`},
		{"writer", "/pets", `{"items":[{"id":"a b"}],"total":1}`, `"data":[{"id":"a b","links":[]}]`},
		{"writer", "/pets", `{"items":[{"id":"ab"}],"total":1}`, `"data":[{"id":"ab","links":[` + link("self", "GET", "/pets/ab") + "," + link("delete", "DELETE", "/pets/ab") + `]}]`},
		{"writer", "/pets/2/toys", `[{"id":5}]`, `"data":[{"id":5,"links":[` + link("delete", "DELETE", "/pets/2/toys/5") + `]}]`},
		{"reader", "/pets", `{"id":2}`, `{"id":2,"links":[` + link("self", "GET", "/pets") + `]}`},
		{"writer", "/pets/2", `{"id":2}`, `{"id":2,"links":[` + link("self", "GET", "/pets/2") + "," + link("delete", "DELETE", "/pets/2") + `]}`},
	} {
		u.Answer(says("application/json", c.body))
		if p := r.do(c.client, http.MethodGet, c.path, ""); p.Status != 200 || !strings.Contains(p.Body, c.want) {
			t.Errorf("%s %s of %s: %d %s", c.client, c.path, c.body, p.Status, p.Body)
		}
	}
}
