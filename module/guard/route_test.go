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
		{"/exports", false}, {"/", false}, {"http://api.example", false}, {"*", false},
	} {
		u, err := url.ParseRequestURI(c.target)
		if c.target == "*" {
			u, err = &url.URL{Path: "*"}, nil // as net/http reads it
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := route.Find("GET", u) == 0; got != c.want {
			t.Errorf("%s: %v, want %v", c.target, got, c.want)
		}
	}
	if u := (&url.URL{Path: "/export"}); route.Find("POST", u) >= 0 {
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
		if got := route.Find("GET", u) == 0; got != c.want {
			t.Errorf("%s for %s: %v, want %v", c.pattern, c.target, got, c.want)
		}
	}
}
