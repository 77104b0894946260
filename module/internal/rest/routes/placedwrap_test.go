package routes_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// R11: below `wrap` a member that the gateway places is there once and has its value, whatever the
// client sends beside it.
func FuzzClientsCannotSendPlacedMembersBelowWrap(f *testing.F) {
	for _, name := range []string{"ids", "number", "IDs", " ids", "ids[]", "a/ids", "arguments", "", "method", "limit", "\u0131ds", "by"} {
		f.Add(name, `[8]`)
		f.Add(name, `{"ids":[8],"user":8}`)
		f.Add(name, `1,"ids":[8]`)
	}
	table, err := routes.New([]resource.Resource{{
		Path: "calls",
		Routes: []resource.Route{{Method: "PATCH", Path: "/calls/{id}", Upstream: "/rpc", As: "json", Members: []compose.Member{
			{Name: "method", Value: "set"}, {Name: "/arguments/ids", Value: "[{id|int}]"}, {Name: "/arguments/by/user", Value: "{id}"},
		}}},
		Wrap:   "arguments",
		Rename: map[string]string{"number": "ids", "limit": "downloadLimit"},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		key, _ := json.Marshal(name)
		m, _, _ := table.Match("PATCH", "/calls/7")
		up, refused := m.Request(mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{` + string(key) + `:` + value + `}`)})
		if refused != nil {
			return
		}
		outer, refused := validate.Parse(up.Body) // refuses a member that is there twice
		if refused != nil || len(outer) != 2 || outer[0].Name != "arguments" || string(outer.Get("method")) != `"set"` {
			t.Fatalf("%s %v", up.Body, refused)
		}
		inner, refused := validate.Parse(outer[0].Value)
		if refused != nil || string(inner.Get("ids")) != `[7]` || string(inner.Get("by")) != `{"user":"7"}` || !bytes.HasSuffix(outer[0].Value, []byte(`"ids":[7],"by":{"user":"7"}}`)) {
			t.Fatalf("%s %v", up.Body, refused)
		}
		for _, member := range inner[:len(inner)-2] {
			if strings.EqualFold(member.Name, "ids") || strings.EqualFold(member.Name, "by") {
				t.Errorf("%s", up.Body)
			}
		}
	})
}
