package etag_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/etag"
)

func TestETagListsAreParsed(t *testing.T) {
	for text, want := range map[string]string{
		`"a"`: `"a"`, `W/"a"`: `W/"a"`, `"a","b"`: `"a", "b"`, ` "a" , W/"b" `: `"a", W/"b"`, `,"a",,"b",`: `"a", "b"`, `""`: `""`, `"a,b"`: `"a,b"`,
		``: "-", `a`: "-", `"a`: "-", `"a"b`: "-", `w/"a"`: "-", `"a" "b"`: "-", `"a b"`: "-", "\"a\x7f\"": "-", `*,"a"`: "-", `,`: "-", `W/ "a"`: "-",
		strings.Repeat(`"a",`, 65): "-",
	} {
		l, ok := etag.ParseList([]string{text})
		if got := etag.Join(l.Tags); !ok && want != "-" || ok && got != want {
			t.Errorf("%q: %q %v, want %q", text, got, ok, want)
		}
	}
	if l, ok := etag.ParseList([]string{" * "}); !ok || !l.Any {
		t.Error("an asterisk is none")
	}
	if l, ok := etag.ParseList([]string{`"a"`, `"b"`}); !ok || len(l.Tags) != 2 {
		t.Error("two lines are not one list")
	}
}

func TestPlansDifferWhereTheirPartsDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, parts := range [][]string{{}, {""}, {"a"}, {"a", ""}, {"", "a"}, {"ab"}, {"a", "b"}, {"b", "a"}} {
		p := etag.Plan(parts...)
		if seen[p] || len(p) != 12 {
			t.Errorf("%q: %s", parts, p)
		}
		seen[p] = true
	}
}

func TestConditionsFollowTheRFC(t *testing.T) {
	now := etag.Current{Exists: true, Tagged: true, Tag: etag.Tag{Opaque: "a"}}
	weak := etag.Current{Exists: true, Tagged: true, Tag: etag.Tag{Weak: true, Opaque: "a"}}
	for _, c := range []struct {
		match, none string
		now         etag.Current
		want        bool
	}{
		{"", "", now, true}, {"", "", etag.Current{}, true},
		{`"a"`, "", now, true}, {`"b", "a"`, "", now, true}, {`"b"`, "", now, false}, {`W/"b"`, "", now, false}, {`W/"a"`, "", weak, false}, {`"a"`, "", weak, false},
		{"*", "", now, true}, {"*", "", etag.Current{}, false}, {`"a"`, "", etag.Current{}, false}, {"*", "", etag.Current{Exists: true}, true}, {`""`, "", etag.Current{Exists: true}, false},
		// Spellings of those who compress: Caddy's encode, Apache; nginx, Cloudflare.
		{`"a-gzip"`, "", now, true}, {`"a-zstd"`, "", now, true}, {`"a-br"`, "", now, true}, {`W/"a"`, "", now, true}, {`W/"a-gzip"`, "", now, true},
		{`"a-x"`, "", now, false}, {`"b-gzip"`, "", now, false}, {`"a-gzip"`, "", weak, false},
		{"", `"a-gzip"`, now, false}, {"", `W/"a-br"`, now, false}, {"", `"a-x"`, now, true}, {"", `"b-gzip"`, now, true},
		{"", `"a"`, now, false}, {"", `W/"a"`, now, false}, {"", `"a"`, weak, false}, {"", `"b"`, now, true}, {"", "*", now, false}, {"", "*", etag.Current{}, true},
		{"", `"a"`, etag.Current{}, true}, {"", `""`, etag.Current{Exists: true}, true},
		{`"a"`, `"a"`, now, false}, {`"a"`, `"b"`, now, true}, {`"b"`, `"c"`, now, false},
	} {
		h := make(http.Header)
		if c.match != "" {
			h.Set("If-Match", c.match)
		}
		if c.none != "" {
			h.Set("If-None-Match", c.none)
		}
		conditions, refused := etag.Parse(h)
		if refused != nil || conditions.Hold(c.now) != c.want {
			t.Errorf("%v with %+v: %v %v", h, c.now, !c.want, refused)
		}
	}
}

func TestOfBodyHashesTheBodyToAnETag(t *testing.T) {
	a, b := etag.OfBody([]byte("a")), etag.OfBody([]byte("b"))
	if a == b || a.Weak || a != etag.OfBody([]byte("a")) {
		t.Errorf("%v %v", a, b)
	}
}

func FuzzParseList(f *testing.F) {
	f.Add(`"a", W/"b"`)
	f.Fuzz(func(t *testing.T, text string) {
		l, ok := etag.ParseList([]string{text})
		if !ok || l.Any {
			return
		}
		if again, ok := etag.ParseList([]string{etag.Join(l.Tags)}); !ok || etag.Join(again.Tags) != etag.Join(l.Tags) {
			t.Errorf("%q is read as %v, and that as %v", text, l, again)
		}
	})
}

func TestFirstOfTwoMalformedETagHeadersIsReported(t *testing.T) {
	for range 20 {
		if _, refused := etag.Parse(http.Header{"If-Match": {"x"}, "If-None-Match": {"y"}}); refused == nil || refused.Field != "If-Match" {
			t.Fatal(refused)
		}
	}
}
