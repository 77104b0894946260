package mapping_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// table has an operation of each kind of request.
func table(t *testing.T) *routes.Table {
	t.Helper()
	all, err := routes.New([]resource.Resource{{
		Path: "articles", Rename: map[string]string{"title": "subject"}, List: &list.Config{},
		Routes: []resource.Route{
			{Method: "GET", Path: "/articles", Upstream: "/api/list.php"},
			{Method: "GET", Path: "/articles/{id}", Upstream: "/api/read.php?id={id}"},
			{Method: "POST", Path: "/articles", Upstream: "/api/write.php", As: "form"},
			{Method: "PUT", Path: "/articles/{id}", Upstream: "/api/rpc", RPC: &resource.RPC{Method: "article.set", Params: `[{id|int},{body.subject}]`}},
			{Method: "DELETE", Path: "/articles/{id}", UpstreamMethod: "POST", Upstream: "/api/{id}/drop"},
		},
	}, {
		Path: "titles", Routes: []resource.Route{{Method: "GET", Path: "/titles/{title:[^/]+}", Upstream: "/t?q=%7B%22t%22:%22{title}%22%7D&r={title}"}},
	}, {Path: "notes", Fixed: []resource.Fixed{{Name: "ownerId", Value: "me"}, {Name: "meta.role", Value: "user"}, {Name: "filter[owner]", Value: "me"}}}, {Path: "maps", Query: []list.Name{{Name: "styles", Upstream: "STYLES"}}}, {Path: "logs"}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRequestsAreMappedToTheUpstream(t *testing.T) {
	all := table(t)
	for _, c := range []struct{ method, path, query, body, want string }{
		{"GET", "/articles", "page=2&limit=10", "", "GET /api/list.php?limit=10&page=2"},
		{"GET", "/articles", "page=x", "", "400 page"},
		{"GET", "/articles/7", "", "", "GET /api/read.php?id=7"},
		{"GET", "/articles/7", "colour=red", "", "400 colour"},
		{"GET", "/articles/7", "_method=DELETE", "", "400 _method"},
		{"POST", "/notes", "q=a%20b&k=1%2B1", `{}`, "POST /notes?k=1%2B1&q=a%20b {}"},
		{"GET", "/notes/7", "ownerId.0=x", "", "400 ownerId.0"}, // to qs these are steps into an object
		{"GET", "/notes/7", "users.ownerId=x", "", "400 users.ownerId"},
		{"GET", "/notes/7", "meta=x", "", "400 meta"},
		{"GET", "/notes/7", "meta[role]=x", "", "400 meta[role]"},
		{"GET", "/notes/7", "meta.role.0=x", "", "400 meta.role.0"},
		{"GET", "/notes/7", "meta.x=1&owner=2", "", "GET /notes/7?meta.x=1&owner=2"},
		{"GET", "/notes/7", "filter[owner][0]=x", "", "400 filter[owner][0]"},
		{"GET", "/notes/7", "filter[state]=open", "", "GET /notes/7?filter%5Bstate%5D=open"},
		{"POST", "/notes", "", `{"filter":{"state":"open"}}`, "400 filter"},
		// What is declared may be empty, as STYLES of WMS, but not what is only a convention.
		{"GET", "/maps/7", "styles=", "", "GET /maps/7?STYLES="},
		{"GET", "/maps/7", "styles", "", "GET /maps/7?STYLES="},
		{"GET", "/maps/7", "styles=" + strings.Repeat("x", list.MaxText), "", "GET /maps/7?STYLES=" + strings.Repeat("x", list.MaxText)},
		{"GET", "/maps/7", "styles=" + strings.Repeat("x", list.MaxText+1), "", "400 styles"},
		{"GET", "/maps/7", "styles=%00", "", "400 styles"},
		{"GET", "/maps/7", "styles=&styles=", "", "400 styles"},
		{"GET", "/logs", "state=", "", "400 state"},
		{"GET", "/titles/a'b c", "", "", "GET /t?q=%7B%22t%22:%22a%27b%20c%22%7D&r=a%27b%20c"},
		{"GET", "/titles/a\",\"x\":\"b", "", "", "404 "},
		{"GET", "/titles/a\\", "", "", "404 "},
		{"POST", "/articles", "", `{"title":"a&b","tags":["x"]}`, "POST /api/write.php subject=a%26b&tags%5B%5D=x"},
		{"POST", "/articles", "", `{"subject":"a"}`, "400 subject"},
		{"PUT", "/articles/7", "", `{"title":"a"}`, `POST /api/rpc {"jsonrpc":"2.0","method":"article.set","params":[7,"a"],"id":1}`},
		{"PUT", "/articles/x", "", `{"title":"a"}`, "404 "},
		{"PUT", "/articles/7", "", `{"title":"a","more":1}`, "400 more"},
		{"DELETE", "/articles/a-b", "", "", "POST /api/a-b/drop"},
	} {
		m, _, refused := all.Match(c.method, c.path)
		if refused != nil {
			t.Errorf("%s %s: %v", c.method, c.path, refused)
			continue
		}
		up, refused := m.Operation.Requests.Request(m.Values, mapping.Asked{
			RawQuery: c.query, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(c.body),
		})
		got := strings.TrimSuffix(up.Method+" "+up.Path+"?"+up.RawQuery, "?")
		if len(up.Body) > 0 {
			got += " " + string(up.Body)
		}
		if refused != nil {
			got = strconv.Itoa(refused.Status) + " " + refused.Field
		}
		if got != c.want {
			t.Errorf("%s %s?%s: %s, want %s", c.method, c.path, c.query, got, c.want)
		}
	}
}

func TestUnsendableOperationsAreRefused(t *testing.T) {
	for want, route := range map[string]resource.Route{
		"expected form, json, multipart or xml": {Method: "POST", Upstream: "/a", As: "yaml"},
		"a GET has no body":                     {Method: "GET", Upstream: "/a", As: "form"},
		"the upstream's method \"TRACE\"":       {Method: "POST", UpstreamMethod: "TRACE", Upstream: "/a"},
		"rpc: unexpected as form":               {Method: "POST", Upstream: "/a", As: "form", RPC: &resource.RPC{Method: "m"}},
		"expected a JSON array, since those of": {Method: "POST", Upstream: "/a", RPC: &resource.RPC{Protocol: "xml", Method: "m", Params: `{"a":1}`}},
		"a GET has no body, expected placehold": {Method: "GET", Upstream: "/a", RPC: &resource.RPC{Method: "m", Params: `[{body}]`}},
	} {
		route.Path = "/words/{id}/uses"
		_, err := routes.New([]resource.Resource{{Path: "words", Routes: []resource.Route{route}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// PHP's $_REQUEST, and TYPO3, have the body's value of a name that is in the address too, also inside brackets.
func TestFormsContradictNoParameterOfTheAddress(t *testing.T) {
	routed := func(upstream, as string) []resource.Route {
		return []resource.Route{{Method: "POST", Path: "/x", Upstream: upstream, As: as}}
	}
	for _, c := range []struct {
		upstream, wrap, job, body, field string // field "": accepted
	}{
		{"/a?act=add", "", "", `{"act":"drop"}`, "act"},
		{"/a?act=add", "", "", `{"act":"add","b":1}`, ""},
		{"/a?act=add&ACT=add", "", "", `{"act":"add"}`, "act"},
		{"/a?filter%5Bx%5D=1", "", "", `{"filter":{"x":2}}`, "filter"},
		{"/a?filter[x]=1", "", "", `{"filter":{"y":2}}`, "filter"}, // Rack takes one of the two
		{"/a?filter[x]=1", "", "", `{"Filter":1}`, "Filter"},
		{"/a?ids[]=1", "", "", `{"ids":[2]}`, "ids"},
		{"/a?filter[x]=1", "", "", `{"x":2}`, ""},
		{"/a?tx[action]=create&tx[who][id]=1", "tx", "", `{"action":"delete"}`, "action"},
		{"/a?tx[action]=create", "tx", "", `{"action":"create","title":"a"}`, ""},
		{"/a?tx[action]=create", "tx", "", `{"action":{"x":1}}`, "action"},
		{"/a?tx[who][id]=1", "tx", "", `{"who":{"id":2}}`, "who"},
		{"/a?other[action]=create", "tx", "", `{"action":"delete"}`, ""},
		{"/a?action=create&id=5", "tx", "", `{"action":"delete","id":6}`, ""},
		{"/a", "", "act=import", `{"act":"drop"}`, "act"},
		{"/a?act=add", "", "act=import", `{"act":"add"}`, "act"},
		{"/a?act=add", "", "mod=import", `{"mod":"import","act":"add"}`, ""},
	} {
		for _, as := range []string{"form", "multipart"} {
			all, err := routes.New([]resource.Resource{{Path: "x", Wrap: c.wrap, Routes: routed(c.upstream, as)}})
			if err != nil {
				t.Fatal(c, err)
			}
			m, _, refused := all.Match("POST", "/x")
			if refused != nil {
				t.Fatal(c, refused)
			}
			_, refused = m.Operation.Requests.Request(m.Values, mapping.Asked{
				Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(c.body), JobQuery: c.job,
			})
			field := ""
			if refused != nil {
				field = refused.Field
			}
			if field != c.field {
				t.Errorf("%s %+v: refused %q", as, c, field)
			}
		}
	}
}

// Clients choose none of these names, and an API may have both. What clients may send is another matter.
func TestTheGatewaySendsNamesInBothConventions(t *testing.T) {
	for _, c := range []struct {
		first, second, address, placed, rename string
		fine                                   bool
	}{
		{"user_id", "userId", "", "z", "title", true},
		{"user_id", "y", "userid=1", "", "title", true},
		{"user_id", "y", "", "userid", "title", true},
		{"user_id", "userid", "", "", "title", true},
		{"x", "y", "user_id=1", "userid", "title", true},
		{"user_id", "User.Id", "", "", "title", false},
		{"user_id", "y", "User_Id=1", "", "title", false},
		{"user_id", "y", "", "user-id", "title", false},
		{"x", "y", "user_id=1", "user-id", "title", false},
		{"user_id", "y", "", "", "userId", false},
	} {
		route := resource.Route{Method: "POST", Path: "/things", Upstream: "/api?" + c.address, As: "form"}
		if c.placed != "" {
			route.Members = []compose.Member{{Name: c.placed, Value: "1"}}
		}
		_, err := routes.New([]resource.Resource{{
			Path: "things", Rename: map[string]string{c.rename: "subject"}, Routes: []resource.Route{route},
			Fixed: []resource.Fixed{{Name: c.first, Value: "1"}, {Name: c.second, Value: "2", In: "body"}},
		}})
		if (err == nil) != c.fine {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Rails, Mongoose, Django and Jetty read these names as others.
func TestNamesThatAreReadAsOthersAreRefused(t *testing.T) {
	things := resource.Resource{
		Path: "things", Values: map[string]map[string]string{"state": {"open": "1"}}, Fixed: []resource.Fixed{{Name: "owner", Value: "me", In: "body"}, {Name: "key", Value: "k"}},
		Validate: []validate.Rule{{Field: "approved", Readonly: true}, {Field: "due", Format: "date"}, {Field: "due_0"}, {Field: "title", Required: true}, {Field: "/meta/role", Readonly: true}},
	}
	placed := []compose.Member{{Name: "kind", Value: "x"}, {Name: "/task/level", Value: "1"}, {Name: "vars.role", Value: "user"}}
	for method, as := range map[string]string{"POST": "json", "PUT": "form", "PATCH": "multipart"} {
		things.Routes = append(things.Routes, resource.Route{Method: method, Path: "/things/{id}", Upstream: "/t", As: as, Members: placed})
	}
	all, err := routes.New([]resource.Resource{things})
	if err != nil {
		t.Fatal(err)
	}
	const inForms, nowhere = "form", ""
	for _, c := range []struct{ name, value, refused string }{
		{"approved(1i)", "1", "all"}, {"state(1)", "1", "all"}, {"due(1i)", "1", "all"}, {"Owner(1)", "1", "all"}, {"kind(1i)", "1", "all"}, {"task(1i)", "1", "all"}, {"key(1)", "1", "all"},
		{"meta", `{"role(1)":1}`, "all"}, {"other", `{"owner(1)":1}`, "json"}, {"task", `{"level(1i)":1}`, "all"},
		{"meta.role", "1", "all"}, {"approved.x", "1", "all"}, {"owner.x", "1", "all"}, {"task.level", "1", "all"}, {"other", `{"owner.x":1}`, "json"},
		{"vars", `{"role":1}`, "all"}, {"vars", `"x"`, nowhere}, {"vars.other", "1", nowhere}, {"title.x", "1", inForms}, // Spring
		{"due_year", "1", inForms}, {"due_0", "1", nowhere}, {"approved_0", "1", inForms}, {"owner_day", "1", inForms}, {"kind_0_year", "1", inForms}, {"state-clear", "1", inForms}, {"__checkbox_approved", "1", inForms}, {"__multiselect_kind", "1", inForms}, {"__checkbox_other", "1", nowhere},
		{"title_0", "1", nowhere}, {"other_year", "1", nowhere}, {"due_x", "1", nowhere}, {"meta_0", "1", inForms},
		{"_charset_", `"IBM037"`, inForms}, {"_charset_", `["utf-8"]`, inForms}, {"_charset_", `"UTF-8"`, nowhere}, {"other", `{"_charset_":"IBM037"}`, nowhere},
	} {
		for method, as := range map[string]string{"POST": "json", "PUT": "form", "PATCH": "multipart"} {
			m, _, refused := all.Match(method, "/things/7")
			if refused != nil {
				t.Fatal(refused)
			}
			body, want := `{"title":"a",`+strconv.Quote(c.name)+":"+c.value+"}", c.refused == "all" || c.refused == as || c.refused == inForms && as != "json"
			_, refused = m.Operation.Requests.Request(m.Values, mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)})
			if (refused != nil && refused.Status == http.StatusBadRequest) != want || refused != nil && !want {
				t.Errorf("%s %s: %v", as, body, refused)
			}
		}
	}
	m, _, _ := all.Match("POST", "/things/7")
	for _, query := range []string{"key(1i)=x", "owner(1)=x", "approved=1"} {
		if _, refused := m.Operation.Requests.Request(m.Values, mapping.Asked{RawQuery: query, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"title":"a"}`)}); refused == nil {
			t.Errorf("%s: accepted", query)
		}
	}
}
