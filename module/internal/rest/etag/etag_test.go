package etag_test

import (
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

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

// Where a tag of ours comes from is known under the same plan, and under no other.
func TestUpstreamTagIsRecoveredUnderTheSamePlanOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opaque := rapid.StringMatching(`[!#-~]{0,128}`).Draw(t, "opaque")
		weak := rapid.Bool().Draw(t, "weak")
		upstream := etag.Tag{Weak: weak, Opaque: opaque}
		plan, other := etag.Plan("a", rapid.String().Draw(t, "plan")), etag.Plan("b")
		ours, ok := etag.Derive(upstream.String(), plan)
		if !ok || ours.Weak != weak {
			t.Fatalf("%v of %v", ours, upstream)
		}
		list, ok := etag.ParseList([]string{ours.String()})
		if !ok || len(list.Tags) != 1 || list.Tags[0] != ours {
			t.Fatalf("%v is read as %v", ours, list)
		}
		if back, ok := ours.Underlying(plan); !ok || back != upstream {
			t.Fatalf("%v came back as %v", upstream, back)
		}
		// nginx makes a tag weak when it compresses the response.
		if back, ok := (etag.Tag{Weak: true, Opaque: ours.Opaque}).Underlying(plan); !ok || back != upstream {
			t.Fatalf("%v came back as %v from a weak spelling", upstream, back)
		}
		if opposite, _ := etag.Derive(etag.Tag{Weak: !weak, Opaque: opaque}.String(), plan); opposite.Opaque == ours.Opaque {
			t.Fatalf("%v and %v have the same text", ours, opposite)
		}
		if _, ok := ours.Underlying(other); ok {
			t.Fatal("another plan knows it")
		}
	})
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

func TestOverlongETagIsHashedAndInvalidOnesDropped(t *testing.T) {
	long := `"` + strings.Repeat("x", 129) + `"`
	a, ok := etag.Derive(long, "p")
	b, _ := etag.Derive(`"`+strings.Repeat("x", 130)+`"`, "p")
	if _, back := a.Underlying("p"); !ok || back || a == b || len(a.Opaque) > 64 {
		t.Errorf("%v %v", a, b)
	}
	for _, none := range []string{"", "x", `"x`, `"x" y`, `"a b"`, `"a","b"`, "*"} {
		if tag, ok := etag.Derive(none, "p"); ok {
			t.Errorf("%q became %v", none, tag)
		}
	}
	// What only looks like ours reaches no upstream.
	for _, forged := range []string{"u.p.!!", "u.p.AA", "u.p.IA", "u.p.Ig", "u.p." + strings.Repeat("YQ", 200), "d.p.YQ", "u.q.YQ"} {
		if u, ok := (etag.Tag{Opaque: forged}).Underlying("p"); ok {
			t.Errorf("%s became %v", forged, u)
		}
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
