package routes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func TestPathTraversalIsNoID(t *testing.T) {
	table := newTable(t, []resource.Resource{{Path: "things", Batch: []string{"a"}, Routes: []resource.Route{
		{Method: "GET", Path: "/things/{id:.*}", Upstream: "/things/{id}"}, {Method: "PATCH", Path: "/things/{id}", Upstream: "/things/{id}"},
	}}})
	batch, _, _ := table.Match("PATCH", "/things")
	for path, id := range map[string]string{
		"%2e%2e": "..", ".%2E": "..", "%2e": ".", "..%2fadmin": "../admin", "a%2F..": "a/..", "a%5c..%5Cb": `a\..\b`,
		"..;": "..;", "..%3Bjsessionid=1": "..;jsessionid=1", "a%2f..;%2fb": "a/..;/b", ".;x": ".;x",
	} {
		if m, declared, refused := table.Match("GET", "/things/"+path); refused == nil || refused.Status != 404 || !declared {
			t.Errorf("%s: %+v %v", path, m, refused)
		}
		if _, ok := batch.Item(id); ok {
			t.Errorf("%q is an item's id", id)
		}
	}
	for path, want := range map[string]string{"a;b": "/things/a%3Bb", "...": "/things/...", "a..b;..": "/things/a..b%3B..", "..a": "/things/..a"} {
		m, _, refused := table.Match("GET", "/things/"+path)
		if refused != nil {
			t.Errorf("%s: %v", path, refused)
		} else if up, _ := m.Request(mapping.Asked{}); up.Path != want {
			t.Errorf("%s: %s, want %s", path, up.Path, want)
		}
	}
}

// Whatever else an upstream could take for more than one id, or for another address, ends
// here: with a guard in front or without.
func TestIDMatchesOneSegmentUnlessExpressionAllowsMore(t *testing.T) {
	table := newTable(t, []resource.Resource{
		{Path: "posts", Links: []link.Link{{Rel: "self"}}, Batch: []string{"a"}},
		{Path: "pages", Routes: []resource.Route{
			{Method: "GET", Path: "/pages/{id:[^|#<>\\[\\]{}]{1,255}}", Upstream: "/api.php?titles={id}"}, {Method: "PUT", Path: "/pages/{id}", Upstream: "/api.php?title={id}"},
		}, Nested: []resource.Resource{{Path: "members"}}},
		{Path: "years/{year:[0-9]{4}}/days", Routes: []resource.Route{{Method: "GET", Path: "/years/{year}/days/{id:[a-z/]+}", Upstream: "/d?y={year}&d={id}"}}},
	})
	for path, found := range map[string]bool{
		"posts/7": true, "posts/a-b_c.d~e:f@g": true, "posts/7%2Frevisions": false, "posts/1%7C3": false, "posts/1,3": false, "posts/1;3": false, "posts/7%255C": false,
		"posts/a%20b": false, "posts/7%25": false, "posts/7%0A": false, "posts/7%5c": false, "posts/%C3%BC": false, "posts/7+8": false, "posts/7=8": false, "posts/7&x=y": false,
		"pages/Talk%3AM%C3%BCller%2FNotes%20of%20'1999'": true, "pages/1%7C3": false, "pages/a%2Fb/members": true, "pages/a%2Fb/members/7": true, "pages/a%2Fb/members/7%2F8": false,
		"years/1999/days/a%2Fb": true, "years/19990/days/a": false, "years/1999/days/a%0A": false, "years/1999%0A/days/a": false,
	} {
		_, declared, refused := table.Match("GET", "/"+path)
		if !declared || (refused == nil) != found {
			t.Errorf("%s: found %v, want %v; declared %v", path, refused == nil, found, declared)
		}
	}
	if _, _, refused := table.Match("PUT", "/pages/a%2Fb"); refused != nil {
		t.Error("an expression does not hold for the other routes of the resource")
	}
	if path, ok := table.Locate("/api.php", "titles=1|3", AnyOperation); ok {
		t.Errorf("an address of the upstream's is %s", path)
	}
	if path, _ := table.Locate("/api.php", "titles=a/b", AnyOperation); path != "/pages/a%2Fb" {
		t.Errorf("an address of the upstream's is %q", path)
	}
	batch, _, _ := table.Match("PATCH", "/posts")
	if _, ok := batch.Item("7/revisions"); ok {
		t.Error("a batch reaches 7/revisions")
	}
	if page, _, _ := table.Match("GET", "/pages/a"); page.Operation.Path != "/pages/{id}" {
		t.Errorf("the path for documents is %s", page.Operation.Path)
	}
}

func TestInvalidExpressionsAreRefused(t *testing.T) {
	get := func(paths ...string) []resource.Resource {
		r := resource.Resource{Path: "things"}
		for i, p := range paths {
			r.Routes = append(r.Routes, resource.Route{Method: []string{"GET", "PUT", "DELETE"}[i], Path: p, Upstream: "/x"})
		}
		return []resource.Resource{r}
	}
	for want, resources := range map[string][]resource.Resource{
		"expected an expression of 1 to 256 bytes behind the colon": get("/things/{id:}"),
		"such as {id:[0-9]+}":           get("/things/{id:" + strings.Repeat("a", 257) + "}"),
		"missing closing ]":             get("/things/{id:[a-z}"),
		"unexpected )":                  get("/things/{id:a)|(b}"),
		"two expressions, [0-9]+ and .": get("/things/{id:[0-9]+}", "/things/{id:.}"),
		"expected a word of letters":    get("/things/x{id:.}"),
	} {
		if _, err := New(resources); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
