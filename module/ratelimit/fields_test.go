package ratelimit

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	client = &Policy{Name: "client", Limit: 1000, Window: time.Minute}
	route  = &Policy{Name: "route", Limit: 5, Window: 1500 * time.Millisecond}
	dry    = &Policy{Name: "dry", Limit: 1, Window: time.Minute, DryRun: true}
	noon   = time.Unix(1_900_000_000, 1)
)

func res(p *Policy, remaining int64, reset, retry time.Duration) Result {
	return Result{Policy: p, Limit: p.Limit, Remaining: remaining, Reset: noon.Add(reset), Violated: retry != 0, Retry: retry}
}

func TestFieldsOfAResponse(t *testing.T) {
	admitted := Verdict{Admitted: true, At: noon, Results: []Result{
		res(dry, 0, time.Hour, time.Hour), res(client, 812, 16200*time.Millisecond, 0), res(route, 900, time.Second, 0),
	}}
	refused := Verdict{At: noon, Results: []Result{
		res(route, 3, 700*time.Millisecond, 700*time.Millisecond), res(client, 2, 0, 0),
	}}
	never := Verdict{At: noon, Results: []Result{res(route, 5, 0, Never), res(client, 0, 0, time.Second)}}
	for _, c := range []struct {
		name  string
		style Style
		v     Verdict
		want  http.Header
	}{
		{"admitted", X, admitted, http.Header{
			"X-RateLimit-Limit": {"1000"}, "X-RateLimit-Remaining": {"812"}, "X-RateLimit-Reset": {"1900000017"},
		}},
		{"admitted, ietf", IETF, admitted, http.Header{
			"RateLimit-Policy": {`"client";q=1000;w=60, "route";q=5;w=2`}, "RateLimit": {`"client";r=812;t=17`},
		}},
		{"refused", Both, refused, http.Header{
			"X-RateLimit-Limit": {"5"}, "X-RateLimit-Remaining": {"0"}, "X-RateLimit-Reset": {"1900000001"}, "Retry-After": {"1"},
			"RateLimit-Policy": {`"route";q=5;w=2, "client";q=1000;w=60`}, "RateLimit": {`"route";r=0;t=1`},
		}},
		{"refused for good", X, never, http.Header{
			"X-RateLimit-Limit": {"5"}, "X-RateLimit-Remaining": {"0"}, "X-RateLimit-Reset": {"1900000001"},
		}},
		{"an outage that admits", Both, Verdict{Admitted: true, At: noon, Outage: true}, http.Header{}},
		{"an outage that refuses", X, Verdict{At: noon, Outage: true}, http.Header{"Retry-After": {"1"}}},
		{"an outage with counts of its own", X, Verdict{Admitted: true, At: noon, Outage: true, Results: []Result{res(route, 2, time.Second, 0)}}, http.Header{
			"X-RateLimit-Limit": {"5"}, "X-RateLimit-Remaining": {"2"}, "X-RateLimit-Reset": {"1900000002"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			for _, name := range slices.Concat(xNames, ietfNames) {
				h.Set(name, "an upstream's")
				h[name] = []string{"of an outer limit"}
			}
			f := NewFields(c.style, c.v)
			f.Set(h)
			f.Set(h)
			if diff := cmp.Diff(c.want, h); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestHTTP1FieldSpellingIsAsDocumented(t *testing.T) {
	var wire strings.Builder
	h := http.Header{}
	NewFields(Both, Verdict{Admitted: true, At: noon, Results: []Result{res(client, 1, 0, 0)}}).Set(h)
	if err := h.Write(&wire); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(xNames, ietfNames) {
		if strings.Count(wire.String(), name+": ") != 1 {
			t.Errorf("%s is not in %q once", name, wire.String())
		}
	}
	for i, name := range slices.Concat(xNames, ietfNames) {
		if canonical[i] != http.CanonicalHeaderKey(name) {
			t.Errorf("%s is not the canonical form of %s", canonical[i], name)
		}
	}
}

func TestHeadersAreUnchangedWithoutAnEnforcedPolicy(t *testing.T) {
	h := http.Header{"X-Ratelimit-Limit": {"upstream"}}
	NewFields(Both, Verdict{Admitted: true, At: noon, Results: []Result{res(dry, 0, 0, time.Second)}}).Set(h)
	NewFields(Both, Verdict{Admitted: true, At: noon}).Set(h)
	if diff := cmp.Diff(http.Header{"X-Ratelimit-Limit": {"upstream"}}, h); diff != "" {
		t.Fatal(diff)
	}
}

func TestCORSExposesFieldsOnce(t *testing.T) {
	const expose = "Access-Control-Expose-Headers"
	f := NewFields(X, Verdict{Admitted: true, At: noon, Results: []Result{res(client, 1, 0, 0)}})
	for _, c := range []struct {
		name string
		cors bool
		had  []string
		want []string
	}{
		{"no CORS", false, []string{"ETag"}, []string{"ETag"}},
		{"CORS", true, nil, []string{"X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After"}},
		{"CORS with a list", true, []string{"ETag, retry-after", "x-ratelimit-limit"},
			[]string{"ETag, retry-after", "x-ratelimit-limit", "X-RateLimit-Remaining, X-RateLimit-Reset"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			if c.cors {
				h.Set("Access-Control-Allow-Origin", "https://app.example.com")
			}
			for _, line := range c.had {
				h.Add(expose, line)
			}
			f.Set(h)
			f.Set(h)
			if diff := cmp.Diff(c.want, h.Values(expose)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestStyles(t *testing.T) {
	for text, want := range map[string]Style{"": X, "x": X, "ietf": IETF, "both": Both} {
		if got, err := ParseStyle(text); err != nil || got != want {
			t.Errorf("ParseStyle(%q) = %v, %v", text, got, err)
		}
	}
	if _, err := ParseStyle("X"); err == nil {
		t.Error("an unknown style was accepted")
	}
}

func TestReportedLimitIsTheTightest(t *testing.T) {
	short, long := res(client, 0, time.Second, time.Second), res(route, 4, time.Minute, time.Minute)
	never := res(client, 0, 0, Never)
	little, much := res(client, 1, 0, 0), res(route, 2, 0, 0)
	all := map[string]struct {
		in   []Result
		want Result
	}{
		"frees last":         {[]Result{short, long}, long},
		"never":              {[]Result{long, never, short}, never},
		"violated":           {[]Result{little, long}, long},
		"least remaining":    {[]Result{much, little}, little},
		"dry run":            {[]Result{res(dry, 0, 0, time.Hour), much}, much},
		"only a dry run":     {[]Result{res(dry, 0, 0, time.Hour)}, Result{}},
		"nothing is limited": {nil, Result{}},
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		slices.Reverse(c.in)
		if got := (Verdict{Results: c.in}).Reported(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
