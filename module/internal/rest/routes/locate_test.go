package routes

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// linearLocate is what Locate must find: the first operation, reading ones before others.
func linearLocate(t *Table, path, query string) (string, bool) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", false
	}
	for _, reading := range []bool{true, false} {
		for _, o := range t.operations {
			if (o.Method == http.MethodGet) != reading {
				continue
			}
			if found, ok := o.Requests.Unmap(path, values); ok {
				return o.pattern.Fill(found), true
			}
		}
	}
	return "", false
}

// The index finds the operation that a walk through all of them finds.
func TestUpstreamIndexKeepsItsOrder(t *testing.T) {
	templates := []string{
		"/a/{id}", "/a/x", "/{id}/x", "/{id}", "/api.php?mod=a&id={id}", "/api.php?id={id}&mod=a", "/api.php?mod=b&id={id}", "/api.php?id={id}",
		"/api.php?mod=%61&id={id}", "/caf%C3%A9/{id}", "/a%20b/{id}?x=", "/?id={id}", "/a/{id}?n=caf%E9", "/a/{id}/{id}",
	}
	paths := []string{
		"/a/7", "/a/x", "/7/x", "/7", "/api.php", "/caf%C3%A9/7", "/caf%E9/7", "/a%20b/7", "/a+b/7", "/", "/a/7/7", "/%61/7", "/%EF%BB%BFa/7", "//", "",
	}
	queries := []string{
		"", "id=7", "mod=a&id=7", "mod=b&id=7", "mod=%61&id=7", "mod=a&mod=b&id=7", "x=&id=7", "x=", "n=caf%E9", "mod=%EF%BB%BFa&id=7", "id=7&other=1", "%",
	}
	found := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var all []resource.Resource
		for i := range 1 + r.IntN(12) {
			one := resource.Resource{Path: fmt.Sprintf("r%d", i), Charset: []string{"", "", "iso-8859-1", "shift_jis", "utf-16le"}[r.IntN(5)]}
			for _, method := range []string{"GET", "DELETE"}[r.IntN(2):] {
				one.Routes = append(one.Routes, resource.Route{Method: method, Path: fmt.Sprintf("/r%d/{id}", i), Upstream: templates[r.IntN(len(templates))]})
			}
			all = append(all, one)
		}
		table, err := New(all)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			for _, query := range queries {
				got, ok := table.Locate(path, query, AnyOperation)
				want, wanted := linearLocate(table, path, query)
				if got != want || ok != wanted {
					t.Fatalf("seed %d: %s?%s is %q, want %q", seed, path, query, got, want)
				}
				if ok {
					found++
				}
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d addresses were found", found)
	}
}

// An address that several operations have belongs to those that fit.
func TestAddressIsLocatedForThoseThatFit(t *testing.T) {
	table, err := New([]resource.Resource{{Path: "things", Routes: []resource.Route{
		{Method: "POST", Path: "/things/{id}/start", Upstream: "/x/{id}/start"}, {Method: "POST", Path: "/things/{id}/stop", Upstream: "/x/{id}"},
		{Method: "GET", Path: "/things/{id}", Upstream: "/x/{id}"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][5]string{
		"/x/7": {"/things/7", "/things/7", "", "", "/things/7"}, "/x/7/start": {"/things/7/start", "", "", "/things/7/start", ""}, "/y": {},
	} {
		for i, fits := range []func(*Operation) bool{
			AnyOperation, Reads, Repeats(nil, "POST"), Repeats(table.operations[0], "POST"), Repeats(nil, "HEAD"),
		} {
			if got, ok := table.Locate(path, "", fits); got != want[i] || ok != (want[i] != "") {
				t.Errorf("%s, %d: %q %t, want %q", path, i, got, ok, want[i])
			}
		}
	}
}

// Merged tables are the table of all resources.
func TestMergedTablesEqualTheTableOfAllResources(t *testing.T) {
	patch := func(method, path string) resource.Route {
		return resource.Route{Method: method, Path: path, Upstream: path}
	}
	items := resource.Resource{Path: "items"}
	batch := resource.Resource{Path: "batch", Routes: []resource.Route{patch("PATCH", "/batch")}}
	own := resource.Resource{Path: "batch", Routes: []resource.Route{patch("PATCH", "/batch/{id}")}}
	for _, all := range [][]resource.Resource{
		{items, batch}, {batch, own}, {own, batch}, {items, items}, {items, {Path: "a", Nested: []resource.Resource{{Path: "b"}}}, {Path: "a/{id}/b"}},
		{items, {Path: "items", Off: []string{"batch"}, Routes: []resource.Route{patch("GET", "/items/{id}/x")}}},
	} {
		whole, wanted := New(all)
		merged, err := New(nil)
		for _, r := range all {
			one, broken := New([]resource.Resource{r})
			if broken != nil {
				t.Fatal(broken)
			}
			if err == nil {
				err = merged.Merge(one)
			}
		}
		if (err == nil) != (wanted == nil) {
			t.Errorf("%v: %v, want %v", all, err, wanted)
		}
		if err != nil || wanted != nil {
			continue
		}
		if len(merged.operations) != len(whole.operations) {
			t.Errorf("%d operations, want %d", len(merged.operations), len(whole.operations))
		}
		for i, o := range whole.operations {
			if m := merged.operations[i]; m.Method != o.Method || m.Path != o.Path {
				t.Errorf("%s %s, want %s %s", m.Method, m.Path, o.Method, o.Path)
			}
		}
	}
}
