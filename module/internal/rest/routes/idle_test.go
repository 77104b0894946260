package routes

import (
	"errors"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

func TestOptionWithoutEffectIsReported(t *testing.T) {
	reads := []resource.Route{{Method: "GET", Path: "/things", Upstream: "/t"}}
	for word, r := range map[string]resource.Resource{
		"replace": {Replace: []string{"a"}}, "created": {Created: &resource.Created{Status: 201}}, "deleted": {Deleted: 204}, "idempotency": {Idempotency: true},
		"validate": {Validate: []validate.Rule{{Field: "a", Required: true}}}, "pass": {Pass: []string{"text/csv"}},
		"list": {List: &list.Config{Send: list.Send{State: "s"}}},
	} {
		r.Path, r.Routes = "things", reads
		table := newTable(t, []resource.Resource{{Path: "others", Nested: []resource.Resource{{Path: "notes"}}}, r})
		var idle *resource.IdleError
		if !errors.As(table.CheckIdle("", false), &idle) || idle.Word != word || idle.Resource != "things" {
			t.Errorf("%s: %v", word, idle)
		}
		if err := table.CheckIdle("others", false); err != nil {
			t.Error(err)
		}
		// Where there is everything, nothing is idle.
		r.Routes, r.Item = nil, "/r"
		if r.List != nil {
			r.List.States = []list.Name{{Name: "open"}}
		}
		if err := newTable(t, []resource.Resource{r}).CheckIdle("", false); err != nil {
			t.Error(err)
		}
	}
	r := resource.Resource{Path: "things", ETag: true, Routes: []resource.Route{{Method: "POST", Path: "/things", Upstream: "/t"}}}
	if newTable(t, []resource.Resource{r}).CheckIdle("", false) == nil {
		t.Error("etag without a GET is not found")
	}
}

func TestDeleteHasABodyOnlyWhereConfigured(t *testing.T) {
	table := newTable(t, []resource.Resource{{Path: "things", Rename: map[string]string{"why": "reason"}, Routes: []resource.Route{
		{Method: "DELETE", Path: "/things/{id}", Upstream: "/t?id={id}", UpstreamMethod: "POST", As: "form"}, {Method: "GET", Path: "/things", Upstream: "/t"},
	}}})
	m, _, _ := table.Match("DELETE", "/things/7")
	for body, want := range map[string]string{`{"why":"spam"}`: "reason=spam", "": ""} {
		up, refused := m.Request(mapping.Asked{Header: map[string][]string{"Content-Type": {"application/json"}}, Body: []byte(body)})
		if refused != nil || string(up.Body) != want || !up.Replaced {
			t.Errorf("%q: %q %v", body, up.Body, refused)
		}
	}
}
