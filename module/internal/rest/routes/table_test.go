package routes

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// school has nested resources and routes of all kinds.
var school = []resource.Resource{
	{Path: "students", List: &list.Config{}, Batch: []string{"name"}, Nested: []resource.Resource{
		{Path: "friends", List: &list.Config{}},
		{Path: "{id}/marks/latest", Routes: []resource.Route{{Method: "GET", Path: "/students/{id}/marks/latest", Upstream: "/m?s={id}"}}},
	}},
	{Path: "profile", Routes: []resource.Route{
		{Method: "GET", Path: "/profile", Upstream: "/me"}, {Method: "PATCH", Path: "/profile", Upstream: "/me"}, {Method: "DELETE", Path: "/profile", Upstream: "/me"},
	}},
	{Path: "words", Routes: []resource.Route{
		{Method: "GET", Path: "/words/{id:.+}", Upstream: "/w/{id}.json?of={id}"}, {Method: "GET", Path: "/words/today", Upstream: "/today"},
		{Method: "POST", Path: "/words/{id}/uses", Upstream: "/w/{id}/use"}, {Method: "DELETE", Path: "/words/today/notes/{x}", Upstream: "/d/{x}"},
	}},
}

func newTable(t testing.TB, resources []resource.Resource) *Table {
	t.Helper()
	table, err := New(resources)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestDeeplyNestedResourcesHaveDefaultPaths(t *testing.T) {
	table := newTable(t, []resource.Resource{{Path: "students", Nested: []resource.Resource{{Path: "friends", Nested: []resource.Resource{
		{Path: "letters", Links: []link.Link{{Rel: "self"}, {Rel: "of", Path: "/students/{id}/friends/{sub_id}?letter={sub_sub_id}"}}}, {Path: "{sub_id}/photo"},
	}}}}})
	for path, want := range map[string]string{
		"/students/1/friends/2/letters": "/students/{id}/friends/{sub_id}/letters", "/students/1/friends/2/letters/3": "/students/{id}/friends/{sub_id}/letters/{sub_sub_id}",
		"/students/1/friends/2/photo": "/students/{id}/friends/{sub_id}/photo",
	} {
		m, _, refused := table.Match("GET", path)
		if refused != nil || m.Operation.Path != want {
			t.Fatalf("%s: %v %+v, want %s", path, refused, m.Operation, want)
		}
		if up, refused := m.Request(mapping.Asked{}); refused != nil || up.Path != path {
			t.Errorf("%s: %v %v", path, up.Path, refused)
		}
	}
}

func TestRequestsAreRoutedByMethodAndPath(t *testing.T) {
	table := newTable(t, school)
	for _, c := range []struct {
		method, path string
		kind         resource.Kind // "" for a refusal
		upstream     string
		status       int
		allow        string
	}{
		{"GET", "/students", resource.List, "GET /students?limit=20&page=1", 0, "GET, HEAD, OPTIONS, PATCH, POST"},
		{"HEAD", "/students", resource.List, "GET /students?limit=20&page=1", 0, "GET, HEAD, OPTIONS, PATCH, POST"},
		{"POST", "/students", resource.Create, "POST /students", 0, "GET, HEAD, OPTIONS, PATCH, POST"},
		{"PATCH", "/students", resource.Batch, "", 0, "GET, HEAD, OPTIONS, PATCH, POST"},
		{"PUT", "/students", "", "", 405, "GET, HEAD, OPTIONS, PATCH, POST"},
		{"PUT", "/students/7", resource.Replace, "PUT /students/7", 0, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"},
		{"PATCH", "/students/7", resource.Update, "PATCH /students/7", 0, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"},
		{"DELETE", "/students/a%2fb", "", "", 404, ""},
		{"POST", "/words/a%2fb/uses", resource.Action, "POST /w/a%2Fb/use", 0, "OPTIONS, POST"}, // the expression of another route's {id}
		{"DELETE", "/students/a@b", resource.Delete, "DELETE /students/a@b", 0, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"},
		{"GET", "/students/7/friends", resource.List, "GET /students/7/friends?limit=20&page=1", 0, "GET, HEAD, OPTIONS, PATCH, POST"},
		{"DELETE", "/students/7/friends/8", resource.Delete, "DELETE /students/7/friends/8", 0, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"},
		{"GET", "/students/7/marks/latest", resource.Read, "GET /m?s=7", 0, "GET, HEAD, OPTIONS"},
		{"GET", "/students/7/marks", "", "", 404, ""},
		{"GET", "/profile", resource.Read, "GET /me", 0, "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"PATCH", "/profile", resource.Update, "PATCH /me", 0, "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"DELETE", "/profile", resource.Delete, "DELETE /me", 0, "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"GET", "/words/today", resource.Read, "GET /today", 0, "GET, HEAD, OPTIONS"},
		{"GET", "/words/x%20y", resource.Read, "GET /w/x%20y.json?of=x%20y", 0, "GET, HEAD, OPTIONS"},
		{"POST", "/words/today/uses", resource.Action, "POST /w/today/use", 0, "OPTIONS, POST"}, // back from the word to the placeholder
		{"DELETE", "/words/today/notes/x", resource.Action, "DELETE /d/x", 0, "DELETE, OPTIONS"},
		{"TRACE", "/profile", "", "", 405, "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"GET", "", "", "", 404, ""}, {"GET", "/", "", "", 404, ""}, {"GET", "/profile/", "", "", 404, ""}, {"GET", "//profile", "", "", 404, ""},
		{"GET", "/Profile", "", "", 404, ""}, {"GET", "/words/%zz", "", "", 404, ""}, {"GET", "/words/..", "", "", 404, ""},
		{"GET", "/words/%2e%2e%2fa", "", "", 404, ""}, {"GET", "/words/a%5c..", "", "", 404, ""}, {"GET", "/words/%0d%0aX:y", "", "", 404, ""},
		{"GET", "/words/" + strings.Repeat("a/", 99), "", "", 404, ""},
	} {
		m, _, refused := table.Match(c.method, c.path)
		if c.kind == "" {
			if refused == nil || refused.Status != c.status || refused.Header.Get("Allow") != c.allow {
				t.Errorf("%s %s: %v", c.method, c.path, refused)
			}
			continue
		}
		if refused != nil || m.Operation.Kind != c.kind || m.Allow != c.allow || m.Head != (c.method == "HEAD") {
			t.Errorf("%s %s: %v %v", c.method, c.path, refused, m)
			continue
		}
		if c.kind == resource.Batch {
			if m.Operation.Item == nil || m.Operation.Item.Kind != resource.Update {
				t.Error("the batch has no operation on items")
			}
			continue
		}
		up, refused := m.Request(mapping.Asked{Header: http.Header{}})
		if refused != nil {
			t.Fatal(refused)
		}
		got := up.Method + " " + up.Path
		if up.RawQuery != "" {
			got += "?" + up.RawQuery
		}
		if got != c.upstream {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.upstream)
		}
	}
	if m, declared, refused := table.Match("OPTIONS", "/words/7"); !declared || refused != nil || m.Operation != nil || m.Allow != "GET, HEAD, OPTIONS" {
		t.Errorf("%v %v", m, refused)
	}
	if _, declared, _ := table.Match("GET", "/nothing"); declared {
		t.Error("/nothing is declared")
	}
	if _, declared, _ := table.Match("GET", "/nothing/.."); !declared {
		t.Error("a step through directories could pass as undeclared")
	}
}

func TestUpstreamAddressesAreMappedBack(t *testing.T) {
	table := newTable(t, school)
	for _, c := range []struct{ path, query, want string }{
		{"/m", "s=7", "/students/7/marks/latest"}, {"/m", "s=a-b&x=1", "/students/a-b/marks/latest"}, {"/m", "s=a%2Fb", ""}, {"/w/a%2Fb/use", "", "/words/a%2Fb/uses"}, {"/m", "", ""}, {"/m", "s=7&s=8", ""}, {"/m", "s=..", ""}, {"/m", "s=", ""},
		{"/me", "", "/profile"}, {"/today", "", "/words/today"}, {"/w/7/use", "", "/words/7/uses"}, {"/w/..%2fx/use", "", ""},
		{"/w/7.json", "of=7", ""}, // where the value ends would be a guess
		{"/students/7", "", "/students/7"}, {"/students", "", "/students"}, {"/x", "%zz", ""},
	} {
		if got, ok := table.Locate(c.path, c.query, AnyOperation); got != c.want || ok != (c.want != "") {
			t.Errorf("%s?%s: %q %v", c.path, c.query, got, ok)
		}
	}
}

func FuzzPathsAddNoSegmentOrParameter(f *testing.F) {
	for _, s := range []string{"/words/7", "/words/a%2Fb", "/words/..", "/words/%26x=1", "/words/%3Fa", "/words/%23", "/words/%252e", "/words/%5c..", "/words/;x=1", "/words/%", "/words/ü"} {
		f.Add(s)
	}
	table := newTable(f, school)
	f.Fuzz(func(t *testing.T, at string) {
		m, _, refused := table.Match("GET", at)
		if refused != nil || m.Operation.Requests.Route.Upstream != "/w/{id}.json?of={id}" {
			return
		}
		up, refused := m.Request(mapping.Asked{Header: http.Header{}})
		if refused != nil {
			t.Fatal(refused)
		}
		segments := strings.Split(up.Path, "/")
		query, err := url.ParseQuery(up.RawQuery)
		decoded, bad := url.PathUnescape(up.Path)
		if len(segments) != 3 || err != nil || bad != nil || len(query) != 1 || len(query["of"]) != 1 || strings.ContainsAny(up.RawQuery, "#; ") {
			t.Fatalf("%q became %s?%s", at, up.Path, up.RawQuery)
		}
		id := query.Get("of")
		if decoded != "/w/"+id+".json" || !slices.Contains(m.Values, id) || !strings.HasPrefix(path.Clean(strings.ReplaceAll(decoded, "\\", "/")), "/w/") {
			t.Fatalf("%q became %s?%s", at, up.Path, up.RawQuery)
		}
		if _, err := url.ParseRequestURI(up.Path + "?" + up.RawQuery); err != nil {
			t.Fatal(err)
		}
	})
}

// A PATCH further down than an item changes something else than the resource: the rules for its
// members are not those of the body.
func TestPatchBelowAnItemIsRefused(t *testing.T) {
	for path, want := range map[string]string{
		"/students": "", "/students/{id}": "",
		"/students/{id}/profile": "`resource students/{id}`", "/students/{id}/friends/{friend}": "`resource students/{id}/friends`",
	} {
		_, err := New([]resource.Resource{{Path: "students", Routes: []resource.Route{{Method: "PATCH", Path: path, Upstream: "/s"}}}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			table := newTable(t, []resource.Resource{{Path: "students", Routes: []resource.Route{{Method: method, Path: path, Upstream: "/s"}}}})
			if kind := table.Operations()[0].Kind; want != "" && kind != resource.Action {
				t.Errorf("%s %s: %s, want an action", method, path, kind)
			}
		}
	}
}
