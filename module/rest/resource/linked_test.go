package resource

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

func TestLinksLeadToOperationsThatAreDeclared(t *testing.T) {
	get := Route{Method: "GET", Path: "/notes/{note}", Upstream: "/n/{note}"}
	all := Route{Method: "GET", Path: "/notes", Upstream: "/n"}
	for _, c := range []struct {
		resource Resource
		want     string
	}{
		{Resource{Path: "notes", Links: []link.Link{{Rel: "self"}, {Rel: "delete"}}}, ""},
		{Resource{Path: "notes", Routes: []Route{get}, Links: []link.Link{{Rel: "self"}}}, ""},
		{Resource{Path: "notes", Routes: []Route{get}, Links: []link.Link{{Rel: "x", Path: "/elsewhere/{note}"}}}, ""},
		{Resource{Path: "notes", Routes: []Route{get}, Links: []link.Link{{Rel: "delete"}}}, "resource notes: links delete: expected an upstream for DELETE /notes/{note}"},
		{Resource{Path: "notes", Routes: []Route{get}, Links: []link.Link{{Rel: "x", Path: "/elsewhere/{id}"}}}, "placeholder {id}: expected {note}"},
		{Resource{Path: "notes", Routes: []Route{all}, Links: []link.Link{{Rel: "self"}}}, ""}, // one document
		{Resource{Path: "notes", Routes: []Route{all}, List: &list.Config{}, Links: []link.Link{{Rel: "self"}}}, "links self: expected an upstream for GET /notes/{id}"},
	} {
		if _, err := NewTable([]Resource{c.resource}); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.resource.Links, err)
		}
	}
}

func TestAListSendsNothingThatItsAddressHasAlready(t *testing.T) {
	for address, fine := range map[string]bool{
		"/n?act=list": true, "/n": true, "/n?": true, "/n?offset=5": true, "/n?page=1": false, "/n?a=b&%6cimit=5": false, "/n?limit": false,
	} {
		_, err := NewTable([]Resource{{Path: "notes", List: &list.Config{}, Routes: []Route{{Method: "GET", Path: "/notes", Upstream: address}}}})
		if (err == nil) != fine || err != nil && !strings.Contains(err.Error(), "list: it sends ") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
