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
		"id": "id", "größe": "größe", "author.name": "author.name", "created-at": "created-at", "meta.size": "meta.size", "secrets": "secrets", "name_x": "name_x",
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

// SQL libraries read what is behind a dot as a column of a table, C# and others ignore underscores, MongoDB orders objects by
// all that is in them, and SQL takes a number for a column.
func TestSortNamesNoHiddenMemberInAnotherSpelling(t *testing.T) {
	for _, c := range []struct {
		rename  map[string]string
		drop    []string
		refused []string
		passed  []string
	}{
		{nil, []string{"pin"}, []string{"users.pin", "-users.pin", "users.PIN:desc", "users__pin", "a.b.pin", "users.pin.x", "pin.x", "_pin", "3", "-3", "3:desc", "_"},
			[]string{"pins", "users.pins", "spin", "pincode", "author.name", "-created_at", "name:desc", "name3"}},
		{nil, []string{"pin_code"}, []string{"PinCode", "PinCode:desc", "pincode", "pin-code", "_pin_code", "$pin_code", "@pinCode", "pin__code", "pin.code", "-users.PinCode", "PİNCODE", "pin_code_"},
			[]string{"pin", "code", "pin_codes", "pin.name"}},
		{nil, []string{"passwordHash"}, []string{"Password_Hash", "password-hash:asc", "u.passwordhash"}, []string{"password", "hash"}},
		{nil, []string{"/meta/key"}, []string{"meta", "Meta", "-meta:desc", "_meta", "metaKey", "meta_key", "meta.key", "meta.0.key", "meta__key__x", "users.meta", "users.meta.key", "users.metaKey"},
			[]string{"key", "author.key", "meta.size", "metadata", "meta.x.key", "metas"}},
		{nil, []string{"/a/b/c"}, []string{"a", "a.b", "a.b.c", "ab", "x.a.b", "a.0"}, []string{"b", "b.c", "a.c", "a.b.d"}},
		{nil, []string{"_id", "__v", "_links"}, []string{"_id", "-_id", "__v", "_v", "_links.self", "notes._id", "notes__v._id", "$id"}, []string{"id", "v", "links", "notes.id", "notes__id", "__typename"}},
		{nil, []string{"/attributes/pin"}, []string{"pin", "-pin", "attributes", "attributes.pin"}, []string{"attributes.name", "name"}},
		{map[string]string{"info": "meta", "title": "name"}, []string{"/meta/key"}, []string{"info", "-info", "info.key", "meta"}, []string{"title", "info.size"}},
		{map[string]string{"title": "name"}, nil, nil, []string{"3", "users.pin", "_"}},
	} {
		n, err := fieldnames.New(&resource.Resource{Rename: c.rename, Drop: c.drop})
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range c.refused {
			if got, ok := n.SortField(field); ok {
				t.Errorf("drop %v: %q is sent as %q", c.drop, field, got)
			}
		}
		for _, field := range c.passed {
			if _, ok := n.SortField(field); !ok {
				t.Errorf("drop %v: %q is refused", c.drop, field)
			}
		}
	}
}

// WordPress orders by title, whose text clients get from inside the member.
func TestSortNamesAMemberWithAnotherPlaceInAnswers(t *testing.T) {
	n, err := fieldnames.New(&resource.Resource{Rename: map[string]string{"title": "title"}, Lift: map[string]string{"title": "/title/rendered"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := n.SortField("-title"); got != "-title" || !ok {
		t.Error(got, ok)
	}
}
