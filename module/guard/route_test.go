package guard

import (
	"net/url"
	"testing"
)

func TestRouteMatchesEverySpellingOfItsPaths(t *testing.T) {
	var route Routes
	if err := route.Add([]string{"GET"}, []string{"/export", "/bücher", "/jobs/*"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target string
		want   bool
	}{
		{"/export", true}, {"/%65xport", true}, {"/EXPORT/", true}, {"//export", true}, {"/x/../export", true}, {"/x/%2e%2e/export", true},
		{"/b%C3%BCcher", true}, {"/jobs/", true}, {"/jobs/7", true}, {"/jobs", false},
		{"/export;x=1", true}, {"/;/export", true}, {"/x/..;/export", true}, {"/%5cexport", true}, {"/export%00.html", true}, {"/export%20", true},
		{"/export.", true}, {"/export./", true}, {"/%2565xport", true}, {"/%25252565xport", true}, {"/%25u0065xport", true}, {"//host/export", true},
		{"/jobs;x/7", true}, {"/jobs/;x", true}, {"/jobs%5c7", true}, {"/jobs./7", true}, {"/jobs;x", false}, {"/x;/export", false},
		{"/export%3F", true}, {"/export%3fa=b", true}, {"/export%23", true}, {"/export%253Fa", true}, {"/x/..%3F/export", false}, {"/export/..%3F", true},
		{"/x/../export%3F/..", true}, {"/jobs/7%3F/8", true}, {"/jobs%3F/7", false}, {"/x%3F/export", false},
		{"/exports", false}, {"/", false}, {"http://api.example", false}, {"*", false},
	} {
		u, err := url.ParseRequestURI(c.target)
		if c.target == "*" {
			u, err = &url.URL{Path: "*"}, nil // as net/http reads it
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := route.Find("GET", u, first) == 0; got != c.want {
			t.Errorf("%s: %v, want %v", c.target, got, c.want)
		}
	}
	if u := (&url.URL{Path: "/export"}); route.Find("POST", u, first) >= 0 {
		t.Error("another method matches")
	}
}

// A request target such as http://api.example has no path at all, and upstreams read it as
// the root.
func TestRequestWithoutAPathMatchesTheRoot(t *testing.T) {
	for _, c := range []struct {
		pattern, target string
		want            bool
	}{
		{"/", "http://api.example", true}, {"/", "http://api.example?x=1", true}, {"/", "//", true}, {"/", "/.", true}, {"/", "/x/..", true},
		{"/*", "http://api.example", true}, {"/export", "http://api.example", false}, {"/", "http://api.example/x", false}, {"/", "*", false},
	} {
		var route Routes
		if err := route.Add(nil, []string{c.pattern}); err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(c.target)
		if c.target == "//" || c.target == "*" {
			u, err = &url.URL{Path: c.target}, nil // as net/http reads them
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := route.Find("GET", u, first) == 0; got != c.want {
			t.Errorf("%s for %s: %v, want %v", c.pattern, c.target, got, c.want)
		}
	}
}

// Of the routes that match different readings of a path the preferred one is found.
func TestRouteOfAnAmbiguousPath(t *testing.T) {
	var routes Routes
	for _, path := range []string{"/cheap/*", "/dear"} {
		if err := routes.Add(nil, []string{path}); err != nil {
			t.Fatal(err)
		}
	}
	greatest := func(i, other int) bool { return i > other }
	for path, want := range map[string]int{"/cheap/../dear": 1, "/cheap/x": 0, "/cheap/..;/dear": 1, "/cheap/%64ear": 0, `/cheap\..\dear`: 1, "/dear?/x": 1, "/cheap/x?": 0, "/dear#": 1} {
		if got := routes.Find("GET", &url.URL{Path: path}, greatest); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

func first(int, int) bool { return false }
