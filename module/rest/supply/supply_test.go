package supply

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

var both = []Param{{Query, "key", "a& b=ü"}, {Body, "token", `x +\"&`}, {Header, "X-Api-Key", "h"}}

func TestParametersAreAddedToEveryBodyFormat(t *testing.T) { // R11
	for _, c := range []struct{ media, body, as, want string }{
		{"application/x-www-form-urlencoded", "a=1", "form", `token=x+%2B%5C%22%26&a=1`},
		{"application/json", ` {"a":1}`, "", `{"token":"x +\\\"\u0026","a":1}`},
		{"application/json", `{ }`, "", `{"token":"x +\\\"\u0026"}`},
		{"multipart/form-data; boundary=B", "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n", "multipart", ""},
		{"multipart/form-data; boundary=B", "\r\n--B--\r\n", "multipart", ""},
		{"", "", "form", `token=x+%2B%5C%22%26`},
		{"", "", "json", `{"token":"x +\\\"\u0026"}`},
		{"", "", "", ""},
		{"image/png", "PNG", "", "PNG"},
	} {
		for _, known := range []bool{true, false} {
			r := httptest.NewRequest("POST", "http://x/p?a=1", strings.NewReader(c.body))
			if c.body == "" {
				r.Body = http.NoBody
			} else if !known {
				r.ContentLength = -1
			}
			r.Header.Set("Content-Type", c.media)
			r.Header["X_api_key"] = []string{"client"}
			r.Header["X-Api-Key"] = []string{"client"}
			if err := Apply(r, both, c.as); err != nil {
				t.Fatal(err)
			}
			if r.URL.RawQuery != "a=1&key=a%26%20b%3D%C3%BC" || len(r.Header["X_api_key"]) > 0 || strings.Join(r.Header["X-Api-Key"], ",") != "h" {
				t.Errorf("%s %v", r.URL.RawQuery, r.Header)
			}
			got, err := io.ReadAll(r.Body)
			if err != nil || c.want != "" && string(got) != c.want || r.ContentLength >= 0 && r.ContentLength != int64(len(got)) {
				t.Errorf("%s: %s %v, %d", c.media, got, err, r.ContentLength)
			}
			if _, label, _ := mime.ParseMediaType(c.media); label["boundary"] != "" {
				form, err := multipart.NewReader(strings.NewReader(string(got)), "B").ReadForm(1 << 20)
				if err != nil || form.Value["token"][0] != both[1].Value || len(form.Value["token"]) != 1 || strings.Contains(c.body, "\"a\"") != (len(form.Value["a"]) == 1) {
					t.Errorf("%v %v\n%s", form, err, got)
				}
			}
		}
	}
	for _, body := range []string{"[1]", "x", "", strings.Repeat(" ", maxBlanks+2) + "{}"} {
		r := httptest.NewRequest("POST", "http://x/p", strings.NewReader(body))
		r.ContentLength = max(1, r.ContentLength)
		r.Header.Set("Content-Type", "application/json")
		if Apply(r, both, "json") == nil {
			t.Errorf("%.10q is no object", body)
		}
	}
}

func TestAliasesOfReservedNamesAreReserved(t *testing.T) { // R11
	names := NamesOf([]Param{{Query, "token", "x"}, {Body, "api_key", "x"}, {Header, "X-Own", "x"}})
	for name, want := range map[string]bool{
		"token": true, "Token": true, "TOKEN": true, " token": true, "token ": true, "token[]": true, "token[0]": true, "token[": true, "[token]": true,
		"token\x00x": true, "api.key": true, "api key": true, "api_key": true, "API-KEY": true, "toKen": true, "_token": true,
		"api[key": true, "Api[KEY": true, "api[key\x00]": true, "api[key]": false, "api[keys": false, "api[key][x": false,
		"token(1i)": true, "[token(1)]": true, "Api.Key(1i)": true, "token (": true, "to(ken)": false, "tokens(1i)": false, "(token)": true, // Rails
		"apiKey": true, "ApiKey": true, "apiKey[]": true, "APIKey\x00x": true, // protobuf, djangorestframework-camel-case
		"tokens": false, "x-own": false, "key": false, "": false, "[]": false, "a[token]": false,
	} {
		if names.Has(name) != want {
			t.Errorf("%q: %t, want %t", name, !want, want)
		}
	}
	if Names(nil).Has("") || NamesOf(nil).Has("x") {
		t.Error("nothing is reserved")
	}
}

// R11: to Mongoose and Icinga, dots are steps into an object.
func TestPartsOfReservedNamesAreFoundBehindDots(t *testing.T) {
	names := NamesOf([]Param{{Body, "meta", "x"}, {Body, "api.key", "x"}})
	for name, want := range map[string][2]bool{ // around, inside
		"meta.role": {true, false}, "Meta.role.x": {true, false}, "api.key.x": {true, false}, "api.x": {false, false}, "other.meta": {true, false}, "db.t.Meta": {true, false}, "set__meta": {true, false}, "meta__x": {true, false}, "meta->x": {true, false}, "meta:x": {true, false}, "x:meta": {false, false}, "x->meta": {false, false}, "__meta": {false, false}, "": {false, false}, ".": {false, false},
		"api": {false, true}, "Api": {false, true}, "meta": {false, false}, "key": {false, false}, strings.Repeat("a.", 1<<20) + "meta.x": {false, false},
	} {
		if got := [2]bool{names.HasAround(name), names.HasInside(name)}; got != want {
			t.Errorf("%.30q: %v, want %v", name, got, want)
		}
	}
	if Names(nil).HasAround("a.b") || Names(nil).HasInside("") {
		t.Error("nothing is reserved")
	}
}

// R11: filters of LoopBack and JSON:API are parameters with brackets, of which only some are the gateway's.
func TestNamesWithBracketsAreComparedByTheirSteps(t *testing.T) {
	params := []Param{{Query, "filter[where][owner_id]", "x"}, {Query, "key", "x"}, {Body, "page[size]", "x"}}
	names := NamesInQuery(params)
	for name, want := range map[string]bool{
		"filter[where][owner_id]": true, "filter[where][ownerId]": true, "filter[where][owner_id][]": true, "filter[where][owner_id][0][x]": true, "Filter[WHERE][Owner_ID]": true,
		"filter": true, "filter[]": true, "filter[": true, "filter[where]": true, "filter[where": true, "filter.where.owner_id": true, "filter[where.owner_id]": true, "[filter][where]owner_id": true,
		"filter[][where][owner_id]": true, "filter(x)[where]": true, "filter[where]\x00[limit]": true, "filter\x00[limit]": true, "filter[where][owner_id(1i)]": true, "filter [where]": true,
		"filter[where]x[owner_id]": true, "filter[where]x.owner_id": true, "filter[where] [owner_id]": true, "filter[limit]x[where]": true, "filter[where]x": true, "x[filter]y[where]": false,
		"filter[limit]": false, "filter[where][title]": false, "filter[where][owner]": false, "filters": false, "where[owner_id]": false, "owner_id": false, "x[filter]": false, "": false, "[]": false,
		"key": true, "key[x]": true, "page": true, "page[offset]": true,
	} {
		if names.Has(name) != want {
			t.Errorf("%q: %t, want %t", name, !want, want)
		}
	}
	if all := NamesOf(params); !all.Has("filter[limit]") || !all.Has("filter") || all.Has("where") {
		t.Error("in a body, another filter could replace the one in the query")
	}
	for pair, same := range map[[2]string]bool{
		{"filter[a]", "filter[b]"}: false, {"filter", "filter[a]"}: true, {"filter[a]", "Filter[A]"}: true, {"filter[a][b]", "filter[a]"}: true, {"apiKey", "api_key"}: false, {"api.key", "api_key"}: true,
	} {
		if SamePlaceName(pair[0], pair[1]) != same {
			t.Errorf("%v: %t", pair, !same)
		}
	}
}

// R11: Payload heeds the first operator of a member only, and the client's comes first.
func TestOperatorsBesideOneOfOursAreRefused(t *testing.T) {
	names := NamesInQuery([]Param{{Query, "where[owner][equals]", "x"}, {Query, "filters[tenant][$eq]", "x"}, {Query, "where[level][less_than_equal]", "x"}, {Query, "where[tags][all]", "x"}, {Query, "page[max]", "x"}, {Query, "is", "x"}})
	for name, want := range map[string]bool{
		"where[owner][equals]": true, "where[owner][not_equals]": true, "where[owner][like]": true, "where[owner]": true, "where": true, "where.owner.like": true, "where[owner][and][0][like]": true,
		"where[level][exists]": true, "where[tags][like]": true,
		"filters[tenant][$ne]": true, "filters[tenant][id][$eq]": true, "filters": true,
		"where[title][like]": false, "where[or][0][title][equals]": false, "filters[title][$eq]": false, "where[owners][equals]": false, "page[size]": false, "is": true, "isnot": false,
	} {
		if names.Has(name) != want {
			t.Errorf("%q: %t, want %t", name, !want, want)
		}
	}
}

// R11: Django's widgets write one value in several fields.
func TestFieldsOfWidgetsAreFound(t *testing.T) {
	names := NamesOf([]Param{{Body, "due", "x"}, {Body, "photo", "x"}})
	for name, want := range map[string]bool{
		"due_year": true, "due_month": true, "due_day": true, "due_0": true, "due_10": true, "due_0_year": true, "Due_1": true, "photo-clear": true, "due_0_1_0_day": true,
		"due": false, "due_": false, "due_x": false, "overdue_year": false, "year": false, "_year": false, "_0": false, "due_year_x": false, "": false, strings.Repeat("_0", 1<<20): false,
	} {
		if names.HasField(name) != want {
			t.Errorf("%.30q: %t", name, !want)
		}
	}
	if Names(nil).HasField("due_year") {
		t.Error("nothing is reserved")
	}
}

// R11: a text in front of the first part would be the end of the value before it.
func TestMultipartPreambleIsRefused(t *testing.T) {
	for body, good := range map[string]bool{"--B--\r\n": true, "\r\n--B--\r\n": true, "x\r\n--B--\r\n": false, "\r\n\r\n--B--\r\n": false, "--C--\r\n": false, "--": false} {
		r := httptest.NewRequest("POST", "http://x/p", strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=B")
		if err := Apply(r, both, ""); (err == nil) != good {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestNamesOfFiltersAreAccepted(t *testing.T) { // R11
	for _, name := range []string{"$filter", "filter[where][owner]", "@odata.type", "Category@odata.bind", "filter[$and]"} {
		if err := CheckName(Query, name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"a[", "a]", "[a]", "a[b]c", "a[b", "a[]", "a[[b]]", "a{b}", "a[b c]"} {
		if CheckName(Query, name) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestInvalidParametersAreRefused(t *testing.T) {
	for _, p := range []Param{{"form", "a", ""}, {Query, "a b", ""}, {Query, "a[]", ""}, {Query, "", ""}, {Header, "A B", ""}, {Header, "cookie", ""}, {Header, "host", ""}, {Body, strings.Repeat("x", 101), ""}} {
		if CheckName(p.In, p.Name) == nil {
			t.Errorf("%+v", p)
		}
	}
	for _, p := range []Param{{Query, "a", strings.Repeat("x", maxValue+1)}, {Header, "A", "x\r\nB: c"}, {Query, "a", "x\x00"}} {
		if err := CheckValue(p); err == nil || strings.Contains(err.Error(), "xxx") {
			t.Errorf("%v", err)
		}
	}
	for _, p := range []Param{{Query, "a", strings.Repeat("x", maxValue)}, {Body, "a", "two\nlines"}, {Header, "Authorization", "Bearer x"}} {
		if CheckName(p.In, p.Name) != nil || CheckValue(p) != nil {
			t.Errorf("%+v", p)
		}
	}
}

// FuzzApply holds a JSON body to having the parameter once, and everything else as it was.
func FuzzApply(f *testing.F) {
	f.Add(`{"a":1}`, "v")
	f.Add(` { } `, "v")
	f.Add(`{}`, `"}`)
	f.Fuzz(func(t *testing.T, body, value string) {
		var before map[string]any
		if json.Unmarshal([]byte(body), &before) != nil || before == nil || len(body) > 2000 {
			return
		}
		if _, taken := before["token"]; taken {
			return
		}
		r := httptest.NewRequest("POST", "http://x/p", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if err := Apply(r, []Param{{Body, "token", value}, {Query, "q", value}}, "json"); err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(r.Body)
		var after map[string]any
		if err := json.Unmarshal(got, &after); err != nil || len(after) != len(before)+1 || int64(len(got)) != r.ContentLength {
			t.Fatalf("%s became %s: %v", body, got, err)
		}
		if q, err := url.ParseQuery(r.URL.RawQuery); err != nil || len(q) != 1 || q.Get("q") != value {
			t.Fatalf("%s: %v", r.URL.RawQuery, err)
		}
	})
}
