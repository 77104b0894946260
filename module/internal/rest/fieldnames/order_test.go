package fieldnames_test

import (
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// The order of a list tells what its elements have in a member.
func TestSortNamesMembersThatClientsGet(t *testing.T) {
	n, err := fieldnames.New(&resource.Resource{
		Rename: map[string]string{"title": "name", "pin": "number", "dc:date": "at"}, Lift: map[string]string{"text": "/body/raw"},
		Drop: []string{"secret", "pin", "/meta/api_key", "__v"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"title": "name", "-title": "-name", "+title": "+name", " -title": " -name", "title:desc": "name:desc", "title ASC": "name ASC", "title.desc": "name.desc", "-dc:date": "-at", "-pin": "-number",
		"id": "id", "größe": "größe", "author.name": "author.name", "created-at": "created-at", "meta": "meta", "meta.size": "meta.size", "secrets": "secrets", "name_x": "name_x",
		"name": "", "-name": "", "name:desc": "", "name.desc": "", "text": "", "number": "", "at": "", "-name desc": "",
		"secret": "", "-secret": "", "Secret": "", "SECRET": "", "secret:desc": "", "secret desc": "", "secret.desc": "", "secret.x": "", "secret__x": "", " secret": "", "__v": "",
		"meta.api_key": "", "meta__api_key": "", "meta.apiKey": "", "Meta.API_Key.x": "", "-meta.api_key:asc": "",
		"desc(secret)": "", "secret|desc": "", "secret;desc": "", `{"secret":1}`: "", `"secret"`: "", "--secret": "", "secret[desc]": "", "secret  desc": "", "lower(secret)": "", "meta->api_key": "", "meta/api_key": "", "": "",
	} {
		if got, ok := n.SortField(field); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", field, got, ok, want)
		}
	}
	plain, err := fieldnames.New(&resource.Resource{})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"name:desc", "desc(a)", ""} {
		if got, ok := plain.SortField(field); got != field || !ok {
			t.Errorf("%q, nothing declared: %q %v", field, got, ok)
		}
	}
}
