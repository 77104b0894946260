package restapi

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// R11: the resource over GraphQL on the page, with answers as PostGraphile gives them.
func TestGraphQLDocsPageIsAccurate(t *testing.T) {
	page, err := os.ReadFile("../../../module/rest/README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^```caddyfile\n(resource articles \\{\n\tupstream GET /articles POST /graphql.*?^\\}\n)```$").FindSubmatch(page)
	if found == nil {
		t.Fatal("the page has no resource over GraphQL")
	}
	const (
		all = `query($first:Int,$offset:Int){allArticles(first:$first,offset:$offset){totalCount nodes{id title}}}`
		one = `query($id:Int!){articleById(id:$id){id title}}`
	)
	var answer string
	u := newRecorded(t, func(w http.ResponseWriter, q *http.Request) { says("application/json", answer)(w, q) })
	g := harness.Prepare(t)
	g.Start(t, worded("to "+u.Addr+"\n"+string(found[1])))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct {
		path, query, variables, answer string
		status                         int
		want                           string
	}{
		{"/articles?page=2&limit=1", all, `{"first":1,"offset":1}`, `{"data":{"allArticles":{"totalCount":3,"nodes":[{"id":2,"title":"Maps"}]}}}`, 200,
			`{"data":[{"id":2,"title":"Maps"}],"pagination":{"total":3,"page":2,"limit":1,"total_pages":3}}`},
		{"/articles/2", one, `{"id":2}`, `{"data":{"articleById":{"id":2,"title":"Maps"}}}`, 200, `{"id":2,"title":"Maps"}`},
		{"/articles/9", one, `{"id":9}`, `{"data":{"articleById":null}}`, 404, ""},
		{"/articles/9", one, `{"id":9}`, `{"errors":[{"message":"x"}],"data":{"articleById":null}}`, 422, ""},
	} {
		answer = c.answer
		p := r.do("reader", http.MethodGet, c.path, "")
		if p.Status != c.status || c.want != "" && p.Body != c.want {
			t.Errorf("%s: %d %s", c.path, p.Status, p.Body)
		}
		var sent struct {
			Query     string
			Variables json.RawMessage
		}
		hit, body := u.last(t)
		if err := json.Unmarshal([]byte(body), &sent); err != nil || hit.Method != "POST" || hit.RequestURI != "/graphql" || sent.Query != c.query || strings.ReplaceAll(string(sent.Variables), " ", "") != c.variables {
			t.Errorf("%s was asked with %s %s %s", c.path, hit.Method, hit.RequestURI, body)
		}
	}
}
