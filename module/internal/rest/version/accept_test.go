package version

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type failing interface {
	Fatalf(format string, args ...any)
}

// judge holds what must be so whatever is asked.
func judge(t failing, s *Set, path string, accept []string) {
	c, refused := s.Negotiate(path, accept)
	if (c.Index >= 0) != (c.Version != nil) || c.Version != nil && c.Version != &s.versions[c.Index] {
		t.Fatalf("%q %q: %+v", path, accept, c)
	}
	if refused != nil {
		if !slices.Contains([]int{404, 406, 410}, refused.Status) {
			t.Fatalf("%q %q: %v", path, accept, refused)
		}
	} else if c.Index >= 0 && s.ended(c.Index) {
		t.Fatalf("%q %q: a version that has ended", path, accept)
	}
	if c.MediaType != "" {
		named := slices.ContainsFunc(accept, func(line string) bool { return strings.Contains(strings.ToLower(line), c.MediaType) })
		if c.Version == nil || c.MediaType != "application/vnd.acme."+c.Version.Name+"+json" || !named {
			t.Fatalf("%q %q: answered with %s", path, accept, c.MediaType)
		}
	}
	if c.Prefix == "" && c.Path != path || c.Prefix != "" && (c.Path == "" || c.Path[0] != '/' || !strings.HasSuffix(path, strings.TrimPrefix(c.Path, "/"))) {
		t.Fatalf("%q: %q %q", path, c.Prefix, c.Path)
	}
	h := http.Header{}
	c.Header(h)
	for name, values := range h {
		if slices.ContainsFunc(values, func(v string) bool { return strings.ContainsAny(v, "\r\n") }) {
			t.Fatalf("%s: %q", name, values)
		}
	}
}

// How a list is spread over fields, and the white space in it, mean nothing.
func TestSplitAcceptHeadersMeanTheSame(t *testing.T) {
	s := acme(t)
	ranges := []string{media("v1"), media("v2"), media("v3"), media("v9"), "application/json", "application/*", "*/*", "text/html", "application/vnd.acme+json", ""}
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SampledFrom([]string{"/articles", "/v1/articles", "/v2/articles", "/v3/articles", "/v9/articles"}).Draw(t, "path")
		var one, spread []string
		for range rapid.IntRange(0, 5).Draw(t, "ranges") {
			media := rapid.SampledFrom(ranges).Draw(t, "range")
			thousandths := rapid.SampledFrom([]int{0, 1, 500, 999, 1000}).Draw(t, "weight")
			q := strconv.FormatFloat(float64(thousandths)/1000, 'f', -1, 64)
			one = append(one, media+";q="+q)
			space := rapid.SampledFrom([]string{"", " ", "\t "}).Draw(t, "space")
			element := space + strings.ToUpper(media) + space + ";" + space + `x="a,\"b;q=0"` + space + ";" + space + "Q=" + q + space + ";y=1"
			if len(spread) > 0 && rapid.Bool().Draw(t, "same field") {
				spread[len(spread)-1] += "," + element
			} else {
				spread = append(spread, element)
			}
		}
		var joined []string
		if len(one) > 0 {
			joined = []string{strings.Join(one, ",")}
		}
		judge(t, s, path, joined)
		a, refusedA := s.Negotiate(path, joined)
		b, refusedB := s.Negotiate(path, spread)
		if a != b || (refusedA == nil) != (refusedB == nil) || refusedA != nil && refusedA.Status != refusedB.Status {
			t.Fatalf("%q: %+v %v\n%q: %+v %v", joined, a, refusedA, spread, b, refusedB)
		}
	})
}

func FuzzVersionsInPathAndAccept(f *testing.F) {
	for _, seed := range [][3]string{
		{"/v1/articles", "application/vnd.acme.v2+json", ""},
		{"/articles", "application/vnd.acme.v3+json;q=0.5, */*;q=0.1", "application/json"},
		{"/%763", "application/vnd.acme.v3.raw+json;q=\"1", "text/html"},
		{"/v9", "application/vnd.acme.v3+json;x=\"a\\\",b\";q=0", ""},
		{"//v1", ",,;q=,*/*;q=2", "application/vnd.acme."},
		{"", ";;;", "\""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s := acme(f)
	f.Fuzz(func(t *testing.T, path, first, second string) {
		judge(t, s, path, []string{first, second})
		judge(t, s, "/articles", []string{first})
	})
}
