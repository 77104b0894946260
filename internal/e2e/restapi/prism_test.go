package restapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// R09: rows from before the rules, in every shape that an API may have kept them, fit the
// description of what is answered; so do writes that answer otherwise than reads.
func TestRowsThatBreakTheRulesFitTheDescription(t *testing.T) {
	up := harness.NewUpstream(t)
	rows := []string{
		`{"id":7,"t":{"rendered":"a"},"state":1,"tags":null,"rank":"nine","author":[],"due":5,"parts":"x"}`,
		`{"id":"seven","t":"a","state":"other","tags":["x"],"rank":1e300,"author":{"name":null},"due":"never"}`,
		`{"t":null,"state":null,"author":{"name":{"first":"x"}},"links":"theirs","due":{},"parts":[1,{"text":2}]}`, `{}`,
	}
	up.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPut: // nothing of a resource in it
			fmt.Fprint(w, `{"saved":true}`)
		case r.Method == http.MethodPatch:
			w.WriteHeader(http.StatusNoContent)
		case r.URL.Path == "/notes" && r.Method == http.MethodGet:
			fmt.Fprintf(w, `{"rows":[%s,null,"text",[1]],"n":"8"}`, strings.Join(rows, ","))
		default:
			fmt.Fprintf(w, `{"row":%s}`, rows[r.URL.Path[len(r.URL.Path)-1]%4])
		}
	})
	g := harness.Prepare(t, "$UP", up.Addr)
	g.WriteFile(t, "note.json", `{"type":"object","required":["due"],"properties":{"due":{"type":"string","format":"date"},"parts":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"}}}}}}`)
	g.Start(t, strings.Replace(worded(`
	to $UP
	resource notes {
		list {
			items /rows
			total /n
		}
		item /row
		rename title=t
		values state open=1 done=2
		links self
		validate title required length 5..100
		validate tags length ..20
		validate rank integer min 1 max 9
		validate /author/name required pattern (?i)[a-z\-]+
		validate id readonly
		schema $DIR/note.json
	}
	openapi
`), "public * /open /open/*", "public GET /openapi.json", 1))
	r := &rig{g, t, make(map[string]string)}
	prism := harness.StartPrism(t, r.do("", http.MethodGet, "/openapi.json", "").Body, r.API)
	const valid = `{"title":"Long enough","due":"2026-11-23","rank":null,"author":{"name":"Ann-Lee"},"state":null}`
	for _, c := range []struct {
		status             int
		method, path, body string
	}{
		{200, "GET", "/notes", ""}, {200, "GET", "/notes/0", ""}, {200, "GET", "/notes/1", ""}, {200, "GET", "/notes/2", ""}, {404, "GET", "/notes/3", ""},
		{201, "POST", "/notes", valid}, {204, "PUT", "/notes/1", valid}, {204, "PATCH", "/notes/1", `{"rank":9}`},
		{200, "PATCH", "/notes", `[{"id":1,"op":"replace","path":"/rank","value":3}]`},
		{0, "POST", "/notes", strings.Replace(valid, "2026-11-23", "soon", 1)}, {0, "POST", "/notes", strings.Replace(valid, `"Ann-Lee"`, "null", 1)},
		{0, "POST", "/notes", strings.Replace(valid, "Ann-Lee", "4", 1)}, {0, "PATCH", "/notes/1", `{"rank":10}`}, {0, "PATCH", "/notes/1", `{"rank":"9"}`},
		{0, "PATCH", "/notes/1", `{"id":"1"}`}, {0, "PATCH", "/notes/1", `{"t":"Long enough"}`}, {0, "PATCH", "/notes/1", `{"_method":"PUT"}`}, {0, "PATCH", "/notes/1", `{"state":"1"}`},
		{0, "PATCH", "/notes", `[{"id":1,"op":"replace","path":"/rank","value":10}]`}, {0, "PATCH", "/notes", `[{"id":1,"op":"replace","path":"/id","value":10}]`},
		{0, "PATCH", "/notes", `[{"id":1,"op":"remove","path":"/title"}]`}, {0, "PATCH", "/notes", `[{"id":1,"op":"replace","path":"/t","value":"Long enough"}]`},
	} {
		req, err := http.NewRequest(c.method, prism.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+r.token("writer"))
		if c.body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		p, reached, violations := prism.Do(t, http.DefaultClient, req)
		switch {
		case c.status == 0: // both refuse it
			if direct := r.do("writer", c.method, c.path, c.body); reached || direct.Status != 400 {
				t.Errorf("R09 %s %s %s: the document permits it: %v; the gateway says %d %s", c.method, c.path, c.body, reached, direct.Status, direct.Body)
			}
		case !reached || violations != "" || p.Status != c.status:
			t.Errorf("R09 %s %s %s: passed on %v, %d %s, want %d; violations %s", c.method, c.path, c.body, reached, p.Status, p.Body, c.status, violations)
		}
	}
}
