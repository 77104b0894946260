package routes_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// placing has the same members in a form and in JSON, and a list that is read by POST.
var placing = []resource.Resource{{
	Path: "things",
	Routes: []resource.Route{
		{Method: "GET", Path: "/things", UpstreamMethod: "POST", Upstream: "/search", As: "form", Members: []compose.Member{{Name: "hashes", Value: "all"}}},
		{Method: "PATCH", Path: "/things/{id:.+}", Upstream: "/set", As: "form", Members: []compose.Member{{Name: "hashes", Value: "{id}"}, {Name: "/f/id", Value: "x{id}"}}},
		{Method: "DELETE", Path: "/things/{id:.+}", Upstream: "/rm", As: "json", Members: []compose.Member{{Name: "hashes", Value: "{id}"}, {Name: "/f/id", Value: "x{id}"}}},
	},
	List:   &list.Config{Filters: []list.Filter{{Name: list.Name{Name: "q"}}}},
	Rename: map[string]string{"ours": "hashes", "title": "subject"},
}}

// R11: whatever a client sends, the members that the gateway places are there once and have its
// values, and no other name could be read as one of theirs.
func FuzzClientsCannotSendPlacedMembers(f *testing.F) {
	for _, name := range []string{"hashes", "ours", "HASHES", "hashes[]", " hashes", "f", "f[id]", "f.id", "title", "subject", "a&hashes=all", "a=1&f[id]", "ha\u017fhes", "hashes\x00", "{id}", " [hAshes]", ""} {
		f.Add(name, "all", "7")
		f.Add("", `{"`+strings.Trim(name, "\x00")+`":"all"}`, "7")
		f.Add("a", `{"`+name+`":"all"}`, `7","hashes":"all`)
		f.Add("a", "x&"+name+"=all", "7&hashes=all")
	}
	table, err := routes.New(placing)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, value, id string) {
		if !json.Valid([]byte(value)) {
			quoted, _ := json.Marshal(value)
			value = string(quoted)
		}
		key, _ := json.Marshal(name)
		asked := mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{` + string(key) + `:` + value + `}`)}
		for _, method := range []string{"PATCH", "DELETE"} {
			m, _, refused := table.Match(method, "/things/"+url.PathEscape(id))
			if refused != nil {
				continue
			}
			up, refused := m.Request(asked)
			if refused != nil {
				continue
			}
			sent := make(map[string][]string)
			if method == "PATCH" {
				form, err := url.ParseQuery(string(up.Body))
				if err != nil {
					t.Fatalf("%s: %v", up.Body, err)
				}
				sent = form
			} else {
				var object struct {
					Hashes string
					F      map[string]string
				}
				var all map[string]json.RawMessage
				if json.Unmarshal(up.Body, &all) != nil || json.Unmarshal(up.Body, &object) != nil || len(object.F) != 1 {
					t.Fatalf("%s", up.Body)
				}
				for n := range all {
					sent[n] = []string{""}
				}
				sent["hashes"], sent["f[id]"] = []string{object.Hashes}, []string{object.F["id"]}
				delete(sent, "f")
			}
			check(t, sent, id, string(up.Body))
		}
		m, _, _ := table.Match("GET", "/things")
		asked = mapping.Asked{Header: make(http.Header), RawQuery: url.Values{name: {value}, "q": {id}}.Encode()}
		if up, refused := m.Request(asked); refused == nil {
			form, err := url.ParseQuery(string(up.Body))
			if err != nil || len(form["hashes"]) != 1 || form.Get("hashes") != "all" || form.Get("q") != id || up.RawQuery != "" {
				t.Errorf("%s %v", up.Body, err)
			}
			for n := range form {
				if n != "hashes" && n != "q" && n != "page" && n != "limit" {
					t.Errorf("%s", up.Body)
				}
			}
		}
	})
}

// check looks for the members of placing in what is sent.
func check(t *testing.T, sent map[string][]string, id, body string) {
	t.Helper()
	own := supply.NamesOf([]supply.Param{{In: supply.Body, Name: "hashes"}, {In: supply.Body, Name: "f"}})
	for name, values := range sent {
		switch {
		case name == "hashes" && len(values) == 1 && values[0] == id:
		case name == "f[id]" && len(values) == 1 && values[0] == "x"+id:
		case own.Has(name):
			t.Errorf("%q of %q: %s", name, id, body)
		}
	}
	if len(sent["hashes"]) != 1 || len(sent["f[id]"]) != 1 {
		t.Errorf("%q: %s", id, body)
	}
}

// In a form, placed members precede the client's, and replace nothing of a body that is already there.
func TestPlacedMembersPrecedeTheClientsInAForm(t *testing.T) {
	table, err := routes.New(placing)
	if err != nil {
		t.Fatal(err)
	}
	m, _, _ := table.Match("PATCH", "/things/7")
	up, refused := m.Request(mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"title":"T"}`)})
	if refused != nil || string(up.Body) != "hashes=7&f%5Bid%5D=x7&subject=T" {
		t.Errorf("%s %v", up.Body, refused)
	}
	for _, field := range []string{"ours", "hashes", "f"} {
		_, refused := m.Request(mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"` + field + `":"7"}`)})
		if refused == nil || refused.Status != 400 || refused.Field != field || !strings.Contains(refused.Message, "the gateway sets it itself") {
			t.Errorf("%s: %v", field, refused)
		}
	}
}
