package restapi

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const oneLine = `"upstream": $TO, "resources": [{"path": "articles"}]`

// S02: one line declares a resource, and its answers are the specification's.
func TestOneLineConfigFollowsTheConventions(t *testing.T) {
	u := newRecorded(t, nil)
	r := start(t, u.Addr, oneLine)
	type answer struct {
		status int
		header http.Header
		body   string
	}
	typed := func(media string) http.Header { return http.Header{"Content-Type": {media}} }
	js := typed("application/json")
	for _, c := range []struct {
		name, method, path, body string
		api, want                answer
	}{
		{"S02 a creation is 201 with Location", "POST", "/articles", `{"title":"Tides"}`,
			answer{200, js, `{"title":"Tides", "id": 9007199254740993}`}, answer{201, http.Header{"Location": {"/articles/9007199254740993"}}, `{"title":"Tides", "id": 9007199254740993}`}},
		{"S02 an id that has no address", "POST", "/articles", `{}`, answer{201, js, `{"id":"a/b ü"}`}, answer{201, http.Header{"Location": nil}, `{"id":"a/b ü"}`}},
		{"S02 a creation without an id", "POST", "/articles", `{}`, answer{200, js, `{"ok":true}`}, answer{201, http.Header{"Location": nil}, `{"ok":true}`}},
		{"S02 an id that is no address", "POST", "/articles", `{}`, answer{200, js, `{"id":".."}`}, answer{201, http.Header{"Location": nil}, `{"id":".."}`}},
		{"S02 a creation that says nothing", "POST", "/articles", `{}`, answer{204, nil, ""}, answer{201, nil, ""}},
		{"S02 the API's own Location", "POST", "/articles", `{}`, answer{201, http.Header{"Location": {"/articles/7"}}, ""}, answer{201, http.Header{"Location": {"/articles/7"}}, ""}},
		{"S02 JSON that is labelled HTML", "POST", "/articles", `{}`, answer{200, typed("text/html"), `{"id":5}`}, answer{201, http.Header{"Location": {"/articles/5"}}, `{"id":5}`}},
		{"S02 what is accepted is not made yet", "POST", "/articles", `{}`, answer{202, js, `{"id":5}`}, answer{202, http.Header{"Location": nil}, `{"id":5}`}},
		{"S02 a page is nothing that was made", "POST", "/articles", `{}`, answer{200, typed("text/html"), "<h1>Sign in</h1>"}, answer{200, http.Header{"Location": nil}, "<h1>Sign in</h1>"}},

		{"S02 a deletion is 204", "DELETE", "/articles/7", "", answer{200, js, `{"deleted":true}`}, answer{204, http.Header{"Content-Type": nil}, ""}},
		{"S02 a deletion that says OK", "DELETE", "/articles/7", "", answer{200, typed("text/plain"), "OK"}, answer{204, nil, ""}},
		{"S02 a deletion in JSON that is labelled HTML", "DELETE", "/articles/7", "", answer{200, typed("text/html; charset=utf-8"), `{"ok":1}`}, answer{204, nil, ""}},
		{"S02 a deletion that is accepted", "DELETE", "/articles/7", "", answer{202, js, `{"queued":1}`}, answer{202, nil, `{"queued":1}`}},
		{"S02 a deletion that says that it failed", "DELETE", "/articles/7", "", answer{200, js, `{"message":"locked","success":false}`}, answer{200, js, `{"message":"locked","success":false}`}},
		{"S02 so does one labelled text", "DELETE", "/articles/7", "", answer{200, typed("text/plain"), `{"error":{"code":7}}`}, answer{200, nil, `{"error":{"code":7}}`}},
		{"S02 and one with errors", "DELETE", "/articles/7", "", answer{200, js, `{"errors":[{"code":7}]}`}, answer{200, nil, `{"errors":[{"code":7}]}`}},
		{"S02 a deletion without errors", "DELETE", "/articles/7", "", answer{200, js, `{"success":true,"ok":1,"error":null,"errors":[],"errcode":0,"errno":"0"}`}, answer{204, nil, ""}},
		{"S02 a creation that says that it failed", "POST", "/articles", `{}`, answer{200, js, `{"id":5,"errcode":40001}`}, answer{200, http.Header{"Location": nil}, `{"id":5,"errcode":40001}`}},
		{"S02 a list that failed is not empty", "GET", "/articles", "", answer{200, js, `{"ok":"false","data":[],"total":0,"msg":"no database"}`}, answer{200, nil, `{"ok":"false","data":[],"total":0,"msg":"no database"}`}},

		{"S02 a page is no deletion", "DELETE", "/articles/7", "", answer{200, typed("text/html"), "<h1>Sign in</h1>"}, answer{200, nil, "<h1>Sign in</h1>"}},

		{"S02 an array", "GET", "/articles?page=2&limit=10", "", answer{200, http.Header{"Content-Type": js["Content-Type"], "X-Total-Count": {"57"}}, `[{"id":1}, {"id":2.0}]`},
			answer{200, http.Header{"Link": {`</articles?limit=10&page=1>; rel="first", </articles?limit=10&page=1>; rel="prev", </articles?limit=10&page=3>; rel="next", </articles?limit=10&page=6>; rel="last"`}},
				`{"data":[{"id":1}, {"id":2.0}],"pagination":{"total":57,"page":2,"limit":10,"total_pages":6}}`}},
		{"S02 an array without a total", "GET", "/articles", "", answer{200, js, `[{"id":1},{"id":2}]`},
			answer{200, http.Header{"Link": nil}, `{"data":[{"id":1},{"id":2}],"pagination":{"total":null,"page":1,"limit":2,"total_pages":null}}`}},
		{"S02 an empty array", "GET", "/articles?limit=5", "", answer{200, js, ` []`}, answer{200, nil, `{"data":[],"pagination":{"total":null,"page":1,"limit":5,"total_pages":null}}`}},
		{"S02 more than were asked for", "GET", "/articles?page=2&limit=2", "", answer{200, js, `[{"id":1},{"id":2},{"id":3}]`},
			answer{200, http.Header{"Link": nil}, `{"data":[{"id":1},{"id":2},{"id":3}],"pagination":{"total":null,"page":1,"limit":3,"total_pages":null}}`}},
		{"S02 more than were asked for, and not all", "GET", "/articles?page=2&limit=1", "", answer{200, http.Header{"Content-Type": js["Content-Type"], "X-Total-Count": {"7"}}, `[{"id":1},{"id":2},{"id":3}]`},
			answer{200, http.Header{"Link": nil}, `{"data":[{"id":1},{"id":2},{"id":3}],"pagination":{"total":7,"page":2,"limit":3,"total_pages":3}}`}},
		{"S02 links of an API that pages in its own words", "GET", "/articles?_page=2&_limit=1", "", answer{200, http.Header{"Content-Type": js["Content-Type"], "X-Total-Count": {"7"}, "Link": {`</articles?_limit=1&_page=3>; rel="next"`}}, `[{"id":2}]`},
			answer{200, http.Header{"Link": {`</articles?_limit=1&_page=3>; rel="next"`}}, `{"data":[{"id":2}],"pagination":{"total":7,"page":1,"limit":1,"total_pages":7}}`}},
		{"S02 links of an API to something else", "GET", "/articles?author=ann", "", answer{200, http.Header{"Content-Type": js["Content-Type"], "X-Total-Count": {"1"}, "Link": {`</help>; rel="help"`}}, `[{"id":2}]`},
			answer{200, http.Header{"Link": {`</articles?author=ann&limit=1&page=1>; rel="first", </articles?author=ann&limit=1&page=1>; rel="last"`}}, `{"data":[{"id":2}],"pagination":{"total":1,"page":1,"limit":1,"total_pages":1}}`}},
		{"S02 a total behind the items", "GET", "/articles?limit=1", "", answer{200, js, `{"items":[{"id":1}],"total":"31"}`}, answer{200, nil, `{"data":[{"id":1}],"pagination":{"total":31,"page":1,"limit":1,"total_pages":31}}`}},
		{"S02 a total before them, and a limit", "GET", "/articles?page=3", "", answer{200, js, `{"total_count":31,"per_page":15,"articles":[{"id":1}]}`},
			answer{200, nil, `{"data":[{"id":1}],"pagination":{"total":31,"page":3,"limit":15,"total_pages":3}}`}},
		{"S02 the API's own page agrees", "GET", "/articles?page=2&limit=1", "", answer{200, js, `{"total":3,"page":2,"limit":1,"skip":1,"data":[{"id":2}]}`},
			answer{200, http.Header{"Link": {`</articles?limit=1&page=1>; rel="first", </articles?limit=1&page=1>; rel="prev", </articles?limit=1&page=3>; rel="next", </articles?limit=1&page=3>; rel="last"`}},
				`{"data":[{"id":2}],"pagination":{"total":3,"page":2,"limit":1,"total_pages":3}}`}},
		{"S02 an API that counts elements, and no pages", "GET", "/articles", "", answer{200, js, `{"total":45,"limit":2,"skip":0,"data":[{"id":1},{"id":2}]}`},
			answer{200, http.Header{"Link": nil}, `{"data":[{"id":1},{"id":2}],"pagination":{"total":45,"page":1,"limit":2,"total_pages":23}}`}},
		{"S02 by its own words another page", "GET", "/articles?page=2&limit=2", "", answer{200, js, `{"data":[{"id":1},{"id":2}],"total":45,"offset":"0"}`},
			answer{200, http.Header{"Link": nil}, `{"data":[{"id":1},{"id":2}],"pagination":{"total":45,"page":null,"limit":2,"total_pages":23}}`}},
		{"S02 a page in the API's words", "GET", "/articles?$limit=3&$skip=2", "", answer{200, js, `{"total":45,"limit":3,"skip":2,"data":[{"id":3}]}`},
			answer{200, http.Header{"Link": nil}, `{"data":[{"id":3}],"pagination":{"total":45,"page":null,"limit":3,"total_pages":15}}`}},
		{"S02 an object without a total", "GET", "/articles", "", answer{200, http.Header{"Content-Type": js["Content-Type"], "Etag": {`"x"`}}, `{"items":[{"id":1}], "next":null}`},
			answer{200, http.Header{"Etag": {`"x"`}}, `{"items":[{"id":1}], "next":null}`}},
		{"S02 an API that has the convention", "GET", "/articles", "", answer{200, js, `{"data":[{"id":1}],"pagination":{"total":1},"total":1,"meta":{}}`},
			answer{200, nil, `{"data":[{"id":1}],"pagination":{"total":1},"total":1,"meta":{}}`}},
		{"S02 a total that is no number of things", "GET", "/articles", "", answer{200, js, `{"items":[{"id":1}],"total":59.90}`}, answer{200, nil, `{"items":[{"id":1}],"total":59.90}`}},
		{"S02 an item that is an array", "GET", "/articles/7", "", answer{200, js, `[1]`}, answer{200, nil, `[1]`}},
		{"S02 a page is no list", "GET", "/articles", "", answer{200, typed("text/html"), "<p>[1]"}, answer{200, nil, "<p>[1]"}},

		{"S02 a batch", "PATCH", "/articles", `[{"id":7,"op":"replace","path":"/title","value":"x"},{"id":8,"op":"remove","path":"/tags"}]`, answer{200, js, `{"id":1}`},
			answer{200, nil, `{"data":[{"id":7,"status":200,"data":{"id":1}},{"id":8,"status":200,"data":{"id":1}}]}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range c.api.header {
					w.Header()[name] = values
				}
				w.WriteHeader(c.api.status)
				_, _ = io.WriteString(w, c.api.body)
			})
			p := r.do("writer", c.method, c.path, c.body)
			if p.Status != c.want.status || p.Body != c.want.body {
				t.Errorf("%d %v %s\nwant %d %s", p.Status, p.Header, p.Body, c.want.status, c.want.body)
			}
			for name, values := range c.want.header {
				if got := p.Header.Values(name); strings.Join(got, "\n") != strings.Join(values, "\n") {
					t.Errorf("%s: %q, want %q", name, got, values)
				}
			}
		})
	}
}

// S02: each default has a word that turns it off.
func TestEachDefaultCanBeTurnedOff(t *testing.T) {
	u := newRecorded(t, nil)
	g := harness.Prepare(t)
	g.Start(t, strings.ReplaceAll(worded("to $LEGACY\nresource articles {\n\t\t\tlist off\n\t\t\tcreated off\n\t\t\tdeleted off\n\t\t\tbatch off\n}\n"), "$LEGACY", u.Addr))
	r := &rig{g, t, make(map[string]string)}
	u.Answer(says("application/json", `[{"id":1}]`))
	for _, c := range []struct{ method, path string }{{"GET", "/articles"}, {"POST", "/articles"}, {"DELETE", "/articles/1"}} {
		if p := r.do("writer", c.method, c.path, ""); p.Status != 200 || p.Body != `[{"id":1}]` || p.Header.Get("Location") != "" {
			t.Errorf("S02 %s %s: %d %v %s", c.method, c.path, p.Status, p.Header, p.Body)
		}
	}
	wantError(t, r.do("writer", "PATCH", "/articles", `[]`), 405, "method_not_allowed", "")
}

// S02: long answers stream in flat memory, whatever shape they turn out to have.
func TestLongSingleLineAnswersAreStreamed(t *testing.T) {
	u := newRecorded(t, nil)
	r := start(t, u.Addr, oneLine)
	one := `{"id":1,"t":"` + strings.Repeat("x", 1000) + `"},`
	items := strings.TrimSuffix(strings.Repeat(one, 5000), ",")
	for _, c := range []struct{ name, method, answer, want string }{
		{"S02 an array", "GET", "[" + items + "]", `{"data":[` + items + `],"pagination":{"total":null,"page":1,"limit":5000,"total_pages":null}}`},
		{"S02 a total that comes late", "GET", `{"items":[` + items + `],"total":6000}`, `{"data":[` + items + `],"pagination":{"total":6000,"page":1,"limit":5000,"total_pages":2}}`},
		{"S02 an API that has the convention", "GET", `{"data":[` + items + `],"pagination":{"total":6000,"page":1,"limit":5000,"total_pages":2}}`,
			`{"data":[` + items + `],"pagination":{"total":6000,"page":1,"limit":5000,"total_pages":2}}`},
		{"S02 no list", "GET", `{"other":[` + items + `]}`, `{"other":[` + items + `]}`},
		{"S02 a creation", "POST", `{"id":3,"all":[` + items + `]}`, `{"id":3,"all":[` + items + `]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(says("application/json", c.answer))
			p := r.do("writer", c.method, "/articles", map[string]string{"POST": "{}"}[c.method])
			if p.Body != c.want {
				t.Errorf("%d: %d bytes %.80s ... %s, want %d", p.Status, len(p.Body), p.Body, p.Body[max(0, len(p.Body)-120):], len(c.want))
			}
			if c.method == "POST" && (p.Status != 201 || p.Header.Get("Location") != "/articles/3") {
				t.Errorf("%d %v", p.Status, p.Header)
			}
		})
	}
}

// S02: parameters of operations that are no list.
func TestParametersPassByDefaultAndWhenDeclared(t *testing.T) {
	u := newRecorded(t, says("application/json", `{"id":1}`))
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "articles"}, {"path": "notes", "rename": {"title": "t"}, "query": [{"name": "lang", "upstream": "hl"}, {"name": "fields"}]}]`)
	for _, c := range []struct{ name, method, path, want string }{
		{"S02 nothing is said", "GET", "/articles/7?fields=a,b&x=1&x=2", "/articles/7?fields=a%2Cb&x=1&x=2"},
		{"S02 of a write", "POST", "/articles?dry_run=1", "/articles?dry_run=1"},
		{"S02 of a deletion", "DELETE", "/articles/7?force=true", "/articles/7?force=true"},
		{"S02 declared", "GET", "/notes/7?lang=de&fields=a%26b", "/notes/7?fields=a%26b&hl=de"},
		{"S02 declared, empty", "GET", "/notes/7?lang=", "/notes/7?hl="},
		{"S02 declared, of a write", "PATCH", "/notes/7?lang=de", "/notes/7?hl=de"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := r.do("writer", c.method, c.path, map[string]string{"POST": "{}", "PATCH": `{"title":"x"}`}[c.method])
			if hit, _ := u.last(t); p.Status >= 300 || hit.RequestURI != c.want {
				t.Errorf("%d: %s, want %s", p.Status, hit.RequestURI, c.want)
			}
		})
	}
	for path, field := range map[string]string{
		"/notes/7?other=1": "other", "/notes/7?lang=de&lang=en": "lang", "/notes/7?hl=de": "hl", "/notes/7?lang=a%0Ab": "lang",
		"/notes/7?lang=" + strings.Repeat("x", 1025): "lang",
		// No parameter may make another request of it. The guard in front sees to that.
		"/articles/7?_method=DELETE": "_method", "/articles?.method=DELETE": "_method", "/articles?[_method]=DELETE": "_method", "/articles/7?X-HTTP-Method-Override=DELETE": "X-HTTP-Method-Override",
		"/articles?x-http-method=DELETE": "X-HTTP-Method", "/articles?%20_method%5B0%5D=DELETE": "_method", "/articles/7?_method%00x=DELETE": "_method",
	} {
		wantError(t, r.do("writer", "GET", path, ""), 400, "invalid_parameter", field)
	}
	if n := len(u.Hits()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// S02: clients sort a list that is not declared by their own names.
func TestSortOfAnUndeclaredListIsTranslated(t *testing.T) {
	u := newRecorded(t, says("application/json", `[{"id":1}]`))
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "notes", "rename": {"title": "name"}, "lift": {"text": "/body/raw"}}, {"path": "words", "drop": ["x", "state", "pin_code", "/meta/key"]},
		{"path": "pages", "rename": {"title": "name"}, "query": [{"name": "sort"}]}]`)
	for path, want := range map[string]string{
		"/notes?sort=-title": "/notes?sort=-name", "/notes?sort=title,-id": "/notes?sort=name%2C-id", "/notes?limit=2&sort=id": "/notes?limit=2&sort=id",
		"/words?sort=-title": "/words?sort=-title", "/notes?sort=title:desc": "/notes?sort=name%3Adesc", "/notes?state=open": "/notes?state=open", "/pages?sort=-title": "/pages?sort=-title",
		"/words?sort=-created_at,author.name:desc": "/words?sort=-created_at%2Cauthor.name%3Adesc",
	} {
		p := r.do("reader", http.MethodGet, path, "")
		if hit, _ := u.last(t); p.Status != 200 || hit.RequestURI != want {
			t.Errorf("%s: %d, sent as %s, want %s", path, p.Status, hit.RequestURI, want)
		}
	}
	for _, path := range []string{"/notes?sort=name", "/notes?sort=-name", "/notes?sort=text", "/notes?sort=name:desc", "/notes?sort=desc(name)", "/words?sort=x", "/words?sort=title,-X", "/words?sort=x%20desc", "/words?sort=x.y",
		"/words?sort=words.x", "/words?sort=-title,-words.x", "/words?sort=PinCode:desc", "/words?sort=_pin_code", "/words?sort=metaKey", "/words?sort=meta", "/words?sort=3"} {
		wantError(t, r.do("reader", http.MethodGet, path, ""), 400, "invalid_parameter", "sort")
	}
	wantError(t, r.do("reader", http.MethodGet, "/words?state=open", ""), 400, "invalid_parameter", "state")
}
