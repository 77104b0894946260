package routes

import (
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

func TestAmbiguousBodyMembersAreRefused(t *testing.T) {
	route := func(method, path, upstream, as string) resource.Route {
		return resource.Route{Method: method, Path: path, UpstreamMethod: "POST", Upstream: upstream, As: as}
	}
	table := newTable(t, []resource.Resource{
		{Path: "things", Rename: map[string]string{"id": "aid", "title": "subject"}, Validate: []validate.Rule{{Field: "title", Length: &[2]int{0, 5}}, {Field: "/author/name", Readonly: true}, {Field: "own_er", Readonly: true}},
			Values: map[string]map[string]string{"state": {"draft": "0"}}, Routes: []resource.Route{
				route("POST", "/things", "/api.php?mod=thing&act=add", "form"),
				route("PATCH", "/things/{id}", "/api.php?mod=thing&act=edit&aid={id}", "multipart"),
				route("PUT", "/things/{id}", "/api.php?mod=thing&act=edit&aid={id}", ""),
			}},
	})
	for _, c := range []struct{ method, path, body, field string }{
		{"POST", "/things", `{"title":"x","body":"y","first name":"z","a.b":{"c d":1,"e.f":2}}`, ""},
		{"POST", "/things", `{"title":"x","Subject":"much too long"}`, "Subject"},
		{"POST", "/things", `{"title":"x"," subject":"much too long"}`, " subject"},
		{"POST", "/things", `{"title":"x","subject[x]":"much too long"}`, "subject[x]"},
		{"POST", "/things", `{"title":"x","subject\u0000":"much too long"}`, "subject\x00"},
		{"POST", "/things", `{"TITLE":"much too long"}`, "TITLE"},
		{"POST", "/things", `{"author[name]":"x"}`, "author[name]"},
		{"POST", "/things", `{"Author":{"name":"x"}}`, "Author"},
		{"POST", "/things", `{"list":[{"a]b[c":1}]}`, "list"},
		{"POST", "/things", `{"own.er":1}`, "own.er"},
		{"POST", "/things", `{"own er":1}`, "own er"},
		{"POST", "/things", `{"State":"1"}`, "State"},
		{"POST", "/things", `{"\u017ftate":"1"}`, "\u017ftate"},
		{"POST", "/things", `{".method":"DELETE"}`, ".method"},
		{"POST", "/things", `{"_METHOD":"DELETE"}`, "_METHOD"},
		{"POST", "/things", `{" _method":"DELETE"}`, " _method"},
		{"POST", "/things", `{"_method":"DELETE"}`, "_method"},
		{"POST", "/things", `{"act":"del"}`, "act"},
		{"POST", "/things", `{"Act":"add"}`, "Act"},
		{"POST", "/things", `{" mod":"user"}`, " mod"},
		{"POST", "/things", `{"mod":"thing"}`, ""},
		{"POST", "/things", `{"id":7}`, ""},
		{"PATCH", "/things/7", `{"id":7}`, ""},
		{"PATCH", "/things/7", `{"id":"7"}`, ""},
		{"PATCH", "/things/7", `{"id":8}`, "id"},
		{"PATCH", "/things/7", `{"id":[8]}`, "id"},
		{"PATCH", "/things/7", `{"act":"del","title":"x"}`, "act"},
		// JSON is no query: its names are what they are.
		{"PUT", "/things/7", `{"act":"x","a[b]":1}`, ""},
		{"PUT", "/things/7", `{"Title":"much too long"}`, "Title"},
	} {
		m, _, refused := table.Match(c.method, c.path)
		if refused != nil {
			t.Fatal(refused)
		}
		up, refused := m.Request(mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(c.body)})
		if c.field == "" && refused != nil || c.field != "" && (refused == nil || refused.Status != 400 || refused.Field != c.field) {
			t.Errorf("%s %s: %v %s", c.method, c.body, refused, up.Body)
		}
	}
}
