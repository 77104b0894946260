package link

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shown is a link as clients read it.
type shown struct{ Rel, Method, Href string }

func compile(t testing.TB, names Names, links ...Link) *Set {
	t.Helper()
	s, err := Compile(links, names)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read takes apart what was appended.
func read(t interface {
	Fatalf(format string, args ...any)
}, text []byte) []shown {
	var o struct{ Links []shown }
	if err := json.Unmarshal([]byte("{"+string(text)+"}"), &o); err != nil || o.Links == nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o.Links
}

var everything = []Link{
	{Rel: "self"},
	{Rel: "delete"},
	{Rel: "comments", Path: "/articles/{id}/comments"},
	{Rel: "publish", Method: "POST", Path: "/articles/{id}/publish"},
	{Rel: "search", Path: "/search?about={id}&in=articles"},
	{Rel: "https://api.example/rels/author", Path: "/authors"},
}

func TestResourceLinkRelations(t *testing.T) {
	s := compile(t, Names{Own: "id"}, everything...)
	got := string(s.Append([]byte("x,"), Place{Prefix: "/v1", Base: "/v1/articles/"}, "17", nil))
	want := `x,"links":[{"rel":"self","method":"GET","href":"/v1/articles/17"},` +
		`{"rel":"delete","method":"DELETE","href":"/v1/articles/17"},` +
		`{"rel":"comments","method":"GET","href":"/v1/articles/17/comments"},` +
		`{"rel":"publish","method":"POST","href":"/v1/articles/17/publish"},` +
		`{"rel":"search","method":"GET","href":"/v1/search?about=17&in=articles"},` +
		`{"rel":"https://api.example/rels/author","method":"GET","href":"/v1/authors"}]`
	if got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

func TestOnlyPermittedLinksAreShown(t *testing.T) {
	s := compile(t, Names{Own: "id"}, everything...)
	var asked []string
	got := read(t, s.Append(nil, Place{Prefix: "/v1", Base: "/v1/articles/"}, "a/b", func(method, path string) bool {
		asked = append(asked, method+" "+path)
		return method == "GET" && !strings.HasSuffix(path, "/comments")
	}))
	want := []string{
		"GET /v1/articles/a%2Fb", "DELETE /v1/articles/a%2Fb", "GET /v1/articles/a%2Fb/comments", "POST /v1/articles/a%2Fb/publish",
		"GET /v1/search", "GET /v1/authors",
	}
	if !slices.Equal(asked, want) {
		t.Error(asked)
	}
	if len(got) != 3 || got[0].Rel != "self" || got[1].Rel != "search" || got[1].Href != "/v1/search?about=a%2Fb&in=articles" || got[2].Href != "/v1/authors" {
		t.Error(got)
	}
	if got := string(s.Append(nil, Place{}, "1", func(string, string) bool { return false })); got != `"links":[]` {
		t.Error(got)
	}
}

func TestNestedLinksFillPlaceholders(t *testing.T) {
	names := Names{Collection: []string{"id", "year"}, Own: "sub_id"}
	s := compile(t, names, Link{Rel: "self"}, Link{Rel: "student", Path: "/students/{id}"}, Link{Rel: "other", Path: "/{year}/x-{sub_id}.json?of={id}&n={sub_id}"})
	at := Place{Base: "/students/%7Bsub_id%7D/y/7/friends/", Values: []string{"{sub_id}", "7"}}
	got := read(t, s.Append(nil, at, "{id} &?#/é\"\\", nil))
	escaped := "%7Bid%7D%20&%3F%23%2F%C3%A9%22%5C"
	want := []shown{
		{"self", "GET", "/students/%7Bsub_id%7D/y/7/friends/" + escaped},
		{"student", "GET", "/students/%7Bsub_id%7D"},
		{"other", "GET", "/7/x-" + escaped + ".json?of=%7Bsub_id%7D&n=%7Bid%7D%20%26%3F%23%2F%C3%A9%22%5C"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nnot\n%q", got, want)
	}
}

func TestNoLinksWithoutAnID(t *testing.T) {
	s := compile(t, Names{Own: "id"}, everything...)
	if got := read(t, s.Append(nil, Place{Base: "/articles/"}, "", nil)); len(got) != 1 || got[0].Href != "/authors" {
		t.Error(got)
	}
	got := read(t, s.Append(nil, Place{Base: "/profile", Document: true}, "", nil))
	if len(got) != 3 || got[0] != (shown{"self", "GET", "/profile"}) || got[1] != (shown{"delete", "DELETE", "/profile"}) || got[2].Href != "/authors" {
		t.Error(got)
	}
	if got := read(t, s.Append(nil, Place{Base: "/profile", Document: true}, "5", nil)); len(got) != 6 || got[0].Href != "/profile" || got[2].Href != "/articles/5/comments" {
		t.Error(got)
	}
}

func TestPrefixIsEscapedInLinks(t *testing.T) {
	s := compile(t, Names{Own: "id"}, Link{Rel: "self"})
	prefix := "/a\"b\\c\x01\n"
	if got := read(t, s.Append(nil, Place{Prefix: prefix, Base: prefix + "/x/"}, "1", nil)); got[0].Href != prefix+"/x/1" {
		t.Error(got)
	}
}

func TestInvalidLinkRelationIsRefused(t *testing.T) {
	for _, c := range []struct {
		links []Link
		want  string
	}{
		{[]Link{{}}, `links ""`},
		{[]Link{{Rel: "Self"}}, `links "Self"`},
		{[]Link{{Rel: `a"b`}}, "expected a relation"},
		{[]Link{{Rel: `https://a"b`}}, "expected a relation"},
		{[]Link{{Rel: "comments"}}, "expected self, delete, or name=METHOD:/path"},
		{[]Link{{Rel: "comments", Method: "GET"}}, "expected self, delete, or name=METHOD:/path"},
		{[]Link{{Rel: "self", Method: "get"}}, `method "get": expected GET, POST`},
		{[]Link{{Rel: "self", Method: `G"`}}, "method"},
		{[]Link{{Rel: "self"}, {Rel: "delete"}, {Rel: "self"}}, "links self: it is declared twice with GET"},
		{[]Link{{Rel: "a", Path: "articles/{id}"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "//evil.example/{id}"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "https://evil.example/{id}"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "/a/../{id}"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "/a/{id"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "/a/{{id}}"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: `/a"`}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "/a b"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "/a#b"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "/a%zz"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "/é"}}, "expected the client's path"},
		{[]Link{{Rel: "a", Path: "/a?{id}=1"}}, "in a value of the query"},
		{[]Link{{Rel: "a", Path: "/a/{aid}"}}, "placeholder {aid}: expected {sid}, {id}"},
	} {
		if _, err := Compile(c.links, Names{Collection: []string{"sid"}, Own: "id"}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "links ") {
			t.Errorf("%v: %v", c.links, err)
		}
	}
}

var plain = regexp.MustCompile(`^/[!#-;=?-\[\]_a-z~]*$`)

// whole looks at what any values become: one segment, one parameter, and nothing else.
func whole(t interface {
	Fatalf(format string, args ...any)
}, s *Set, parent, id string) {
	at := Place{Prefix: "/v1", Base: "/v1/students/" + url.PathEscape(parent) + "/friends/", Values: []string{parent}}
	got := read(t, s.Append(nil, at, id, nil))
	if id == "" {
		if len(got) != 0 {
			t.Fatalf("%q", got)
		}
		return
	}
	for i, want := range []struct {
		segments []string
		query    url.Values
	}{
		{[]string{"v1", "students", parent, "friends", id}, nil},
		{[]string{"v1", "a-" + id, parent}, url.Values{"p": {parent}, "q": {"x" + id}}},
	} {
		u, err := url.Parse(got[i].Href)
		if err != nil || !plain.MatchString(got[i].Href) || u.Host != "" || u.Fragment != "" {
			t.Fatalf("%q: %v", got[i].Href, err)
		}
		var segments []string
		for segment := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
			text, err := url.PathUnescape(segment)
			if err != nil {
				t.Fatalf("%q: %v", got[i].Href, err)
			}
			segments = append(segments, text)
		}
		query, err := url.ParseQuery(u.RawQuery)
		if err != nil || !slices.Equal(segments, want.segments) || query.Encode() != want.query.Encode() {
			t.Fatalf("%q: %q %q", got[i].Href, segments, query)
		}
	}
}

var around = []Link{{Rel: "self"}, {Rel: "other", Path: "/a-{sub_id}/{id}?p={id}&q=x{sub_id}"}}

func TestAnyIDIsOneSegment(t *testing.T) {
	s := compile(t, Names{Collection: []string{"id"}, Own: "sub_id"}, around...)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune(`/.\%{}?&=#"<>2Fid `)), 1, 8, -1), rapid.SampledFrom([]string{"{id}", "{sub_id}", "..", "%2e%2e"}))
		whole(t, s, text.Draw(t, "parent"), text.Draw(t, "id"))
	})
}

func FuzzLinkAddresses(f *testing.F) {
	for _, seed := range [][2]string{{"1", "2"}, {"a/b", "{id}"}, {"{sub_id}", ".."}, {"%2F", "?x=1&y"}, {"\"", "\\"}, {"\x00", "\xff"}, {"é", "<>"}} {
		f.Add(seed[0], seed[1])
	}
	s, err := Compile(around, Names{Collection: []string{"id"}, Own: "sub_id"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, parent, id string) { whole(t, s, parent, id) })
}
