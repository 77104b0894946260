package routes

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func TestNamesCanBeJSONPointers(t *testing.T) {
	for _, c := range []struct {
		name         string
		rename, lift map[string]string
		body, sent   string
		field        string // of an error of the upstream's
	}{
		{"a slash in the name", nil, map[string]string{"size": "/disk~1size"}, `{"size":1,"x":2}`, `{"disk/size":1,"x":2}`, "disk/size size"},
		{"a plain name", nil, map[string]string{"text": "/content"}, `{"text":"a"}`, `{"content":"a"}`, "content text"},
		{"one in answers, one in bodies", map[string]string{"id": "category"}, map[string]string{"id": "/name"}, `{"id":"a","path":"/"}`, `{"category":"a","path":"/"}`, "category id"},
		{"the error has the name of answers", map[string]string{"id": "category"}, map[string]string{"id": "/name"}, `{"id":"a"}`, `{"category":"a"}`, "name id"},
		{"names change places", map[string]string{"a": "b", "b": "c"}, map[string]string{"a": "/c", "b": "/b"}, `{"a":1,"b":2}`, `{"b":1,"c":2}`, "c b"},
		{"beside one inside another", map[string]string{"id": "category"}, map[string]string{"id": "/name", "text": "/body/raw"}, `{"id":1}`, `{"category":1}`, "text text"},
	} {
		r := resource.Resource{Path: "things", Rename: c.rename, Lift: c.lift}
		table, err := New([]resource.Resource{r})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m, _, _ := table.Match(http.MethodPost, "/things")
		up, refused := m.Request(mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(c.body)})
		if refused != nil || string(up.Body) != c.sent {
			t.Errorf("%s: sent %s, %v, want %s", c.name, up.Body, refused, c.sent)
		}
		theirs, ours, _ := strings.Cut(c.field, " ")
		if got := m.Operation.names.OursInAnswers(theirs); got != ours {
			t.Errorf("%s: the field %s is %s for clients, want %s", c.name, theirs, got, ours)
		}
		for _, name := range m.Operation.Resource.RefusedNames() {
			if _, refused := m.Request(mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"` + name + `":1}`)}); refused == nil || refused.Field != name {
				t.Errorf("%s: %s is not refused: %v", c.name, name, refused)
			}
		}
	}
}

func TestAnswerOnlyNamesAreRefusedInBodies(t *testing.T) {
	table, err := New([]resource.Resource{{Path: "things", Rename: map[string]string{"id": "category"}, Lift: map[string]string{"id": "/name"}}})
	if err != nil {
		t.Fatal(err)
	}
	m, _, _ := table.Match(http.MethodPost, "/things")
	if names := m.Operation.Resource.RefusedNames(); !slices.Equal(names, []string{"_method", "category", "name"}) {
		t.Error(names)
	}
	for _, name := range []string{"name", "Name", "category", "NAME"} {
		_, refused := m.Request(mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"id":"a","` + name + `":"b"}`)})
		if refused == nil || refused.Field != name || refused.Status != http.StatusBadRequest {
			t.Errorf("%s: %v", name, refused)
		}
	}
}

func TestInvalidRenamesAreRefused(t *testing.T) {
	for _, c := range []struct {
		rename, lift map[string]string
		want         string
	}{
		{map[string]string{"a": "b/c"}, nil, "a=/b/c for a member inside another, or a=/b~1c for a name with a slash in it"},
		{map[string]string{"a": "b~/c"}, nil, "a=/b~0~1c for a name"},
		{map[string]string{"a": "/b"}, nil, "pointers are in lift"},
		{map[string]string{"b": "x"}, map[string]string{"a": "/x"}, "has the name a already"},
		{map[string]string{"b": "x", "a": "y"}, map[string]string{"a": "/x"}, "has the name b already"},
		{map[string]string{"b": "y", "a": "z"}, map[string]string{"a": "/x", "b": "/x"}, "has the name a already"},
		{map[string]string{"a": "y"}, map[string]string{"a": "/"}, "expected a name behind the slash"},
		{nil, map[string]string{"a": "/"}, "expected a name on both sides"},
	} {
		if _, err := New([]resource.Resource{{Path: "things", Rename: c.rename, Lift: c.lift}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v: %v, want %s", c.rename, c.lift, err, c.want)
		}
	}
}
