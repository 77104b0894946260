package routes

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func TestLinksMustLeadToDeclaredOperations(t *testing.T) {
	get := resource.Route{Method: "GET", Path: "/notes/{note}", Upstream: "/n/{note}"}
	all := resource.Route{Method: "GET", Path: "/notes", Upstream: "/n"}
	for _, c := range []struct {
		resource resource.Resource
		want     string
	}{
		{resource.Resource{Path: "notes", Links: []link.Link{{Rel: "self"}, {Rel: "delete"}}}, ""},
		{resource.Resource{Path: "notes", Routes: []resource.Route{get}, Links: []link.Link{{Rel: "self"}}}, ""},
		{resource.Resource{Path: "notes", Routes: []resource.Route{get}, Links: []link.Link{{Rel: "x", Path: "/elsewhere/{note}"}}}, ""},
		{resource.Resource{Path: "notes", Routes: []resource.Route{get}, Links: []link.Link{{Rel: "delete"}}}, "resource notes: links delete: expected an upstream for DELETE /notes/{note}"},
		{resource.Resource{Path: "notes", Routes: []resource.Route{get}, Links: []link.Link{{Rel: "x", Path: "/elsewhere/{id}"}}}, "placeholder {id}: expected {note}"},
		{resource.Resource{Path: "notes", Routes: []resource.Route{all}, Links: []link.Link{{Rel: "self"}}}, ""}, // one document
		{resource.Resource{Path: "notes", Routes: []resource.Route{all}, List: &list.Config{}, Links: []link.Link{{Rel: "self"}}}, "links self: expected an upstream for GET /notes/{id}"},
	} {
		if _, err := New([]resource.Resource{c.resource}); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.resource.Links, err)
		}
	}
}

func TestListParametersMayNotRepeatTheUpstreamQuery(t *testing.T) {
	for address, fine := range map[string]bool{
		"/n?act=list": true, "/n": true, "/n?": true, "/n?offset=5": true, "/n?page=1": false, "/n?a=b&%6cimit=5": false, "/n?limit": false,
	} {
		_, err := New([]resource.Resource{{Path: "notes", List: &list.Config{}, Routes: []resource.Route{{Method: "GET", Path: "/notes", Upstream: address}}}})
		if (err == nil) != fine || err != nil && !strings.Contains(err.Error(), "list: it sends ") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
