package version

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// acme has a version that has ended, one that ends, one that is there to stay.
func acme(t testing.TB, change ...func(*Config)) *Set {
	t.Helper()
	c := Config{
		Vendor: "Acme", Now: func() time.Time { return now },
		Versions: []Version{
			{Name: "v1", Deprecated: now.AddDate(-2, 0, 0), Sunset: now, Gone: true, Successor: "/v2", Doc: "https://api.example/moving"},
			{Name: "v2", Deprecated: now.AddDate(0, 1, 0), Sunset: now.AddDate(1, 0, 0), Gone: true},
			{Name: "v3"},
		},
	}
	for _, f := range change {
		f(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func media(version string) string { return "application/vnd.acme." + version + "+json" }

func TestVersionNegotiation(t *testing.T) {
	const json = "application/json"
	for _, c := range []struct {
		name, path string
		accept     []string
		status     int // of the refusal
		version    string
		rest       string
		media      string
	}{
		{"none", "/articles", nil, 0, "", "/articles", ""},
		{"by path", "/v3/articles/1", nil, 0, "v3", "/articles/1", ""},
		{"by path alone", "/v3", nil, 0, "v3", "/", ""},
		{"by path with a slash", "/v3/", nil, 0, "v3", "/", ""},
		{"escapes stay", "/v3/a%2Fb/%20", nil, 0, "v3", "/a%2Fb/%20", ""},
		{"an escaped version is that version", "/%763/articles", nil, 0, "v3", "/articles", ""},
		{"an escaped version that has ended", "/v%31/articles", nil, 410, "v1", "/articles", ""},
		{"unknown by path", "/v9/articles", nil, 404, "", "/v9/articles", ""},
		{"another spelling", "/v03/articles", nil, 404, "", "/v03/articles", ""},
		{"unknown by path, known by Accept", "/v9/articles", []string{media("v3")}, 404, "", "/v9/articles", ""},
		{"no version: a word", "/videos", nil, 0, "", "/videos", ""},
		{"no version: capitals", "/V3/articles", nil, 0, "", "/V3/articles", ""},
		{"no version: deeper", "/articles/v3", nil, 0, "", "/articles/v3", ""},
		{"no version: text behind", "/v3x/articles", nil, 0, "", "/v3x/articles", ""},
		{"no version: a slash within", "/v3%2Farticles", nil, 0, "", "/v3%2Farticles", ""},
		{"no version: broken", "/v3%/articles", nil, 0, "", "/v3%/articles", ""},
		{"ended by path", "/v1/articles", nil, 410, "v1", "/articles", ""},
		{"ending", "/v2/articles", nil, 0, "v2", "/articles", ""},

		{"by Accept", "/articles", []string{media("v3")}, 0, "v3", "/articles", media("v3")},
		{"in capitals", "/articles", []string{"Application/VND.ACME.V3+JSON"}, 0, "v3", "/articles", media("v3")},
		{"with a parameter", "/articles", []string{media("v3") + `; charset="utf-8,;"; q=0.5`}, 0, "v3", "/articles", media("v3")},
		{"in a second field", "/articles", []string{"text/html", media("v3")}, 0, "v3", "/articles", media("v3")},
		{"behind empty elements", "/articles", []string{" , ,;q=1", "," + media("v3") + ","}, 0, "v3", "/articles", media("v3")},
		{"and anything", "/articles", []string{media("v3") + ", */*"}, 0, "v3", "/articles", media("v3")},
		{"and less gladly JSON", "/articles", []string{json + ";q=0.9, " + media("v3")}, 0, "v3", "/articles", media("v3")},
		{"rather JSON", "/articles", []string{json + ", " + media("v3") + ";q=0.9"}, 0, "", "/articles", ""},
		{"rather anything", "/articles", []string{"*/*, " + media("v3") + ";q=0.9"}, 0, "", "/articles", ""},
		{"no JSON, though anything", "/articles", []string{"*/*, " + json + ";q=0.1, " + media("v3") + ";q=0.2"}, 0, "v3", "/articles", media("v3")},
		{"the more wanted", "/articles", []string{media("v2") + ";q=0.8," + media("v3") + ";q=0.801"}, 0, "v3", "/articles", media("v3")},
		{"of equals the first", "/articles", []string{media("v2"), media("v3")}, 0, "v2", "/articles", media("v2")},
		{"twice, the better counts", "/articles", []string{media("v2") + ";q=0.1", media("v3") + ";q=0.5", media("v2")}, 0, "v2", "/articles", media("v2")},
		{"unknown by Accept", "/articles", []string{media("v9")}, 406, "", "/articles", ""},
		{"unknown, among others", "/articles", []string{media("v9"), "text/html"}, 406, "", "/articles", ""},
		{"unknown, or known", "/articles", []string{media("v9"), media("v3") + ";q=0.1"}, 0, "v3", "/articles", media("v3")},
		{"unknown, or JSON", "/articles", []string{media("v9"), json + ";q=0.1"}, 0, "", "/articles", ""},
		{"another spelling by Accept", "/articles", []string{media("v03")}, 406, "", "/articles", ""},
		{"the vendor's without a version", "/articles", []string{"application/vnd.acme+json"}, 406, "", "/articles", ""},
		{"not JSON", "/articles", []string{"application/vnd.acme.v3+xml"}, 406, "", "/articles", ""},
		{"more than a version", "/articles", []string{"application/vnd.acme.v3.raw+json"}, 406, "", "/articles", ""},
		{"not wanted", "/articles", []string{media("v3") + ";q=0"}, 406, "", "/articles", ""},
		{"with a broken weight", "/articles", []string{media("v3") + ";q=much"}, 406, "", "/articles", ""},
		{"not wanted, all else", "/articles", []string{media("v3") + ";q=0.000, */*;q=0.001"}, 0, "", "/articles", ""},
		{"another vendor", "/articles", []string{"application/vnd.acme2.v3+json"}, 0, "", "/articles", ""},
		{"a vendor below", "/articles", []string{"application/vnd.acme.labs.v3+json"}, 0, "", "/articles", ""},
		{"of no concern", "/articles", []string{"text/html"}, 0, "", "/articles", ""},
		{"no JSON", "/articles", []string{json + ";q=0"}, 0, "", "/articles", ""},
		{"empty", "/articles", []string{""}, 0, "", "/articles", ""},
		{"garbage", "/articles", []string{`"",;;=,/,"`, ";q=1"}, 0, "", "/articles", ""},
		{"ended by Accept", "/articles", []string{media("v1")}, 410, "v1", "/articles", media("v1")},
		{"ended, or anything", "/articles", []string{media("v1") + ", */*"}, 410, "v1", "/articles", media("v1")},
		{"ended, rather anything", "/articles", []string{media("v1") + ";q=0.5, */*"}, 0, "", "/articles", ""},
		{"ended, or another", "/articles", []string{media("v1"), media("v3") + ";q=0.1"}, 0, "v3", "/articles", media("v3")},

		{"both", "/v3/articles", []string{media("v3")}, 0, "v3", "/articles", media("v3")},
		{"both, less gladly", "/v3/articles", []string{media("v3") + ";q=0.5, " + json + ";q=0.4"}, 0, "v3", "/articles", media("v3")},
		{"both, rather JSON", "/v3/articles", []string{media("v3") + ";q=0.5, " + json}, 0, "v3", "/articles", ""},
		{"both, not the only one", "/v3/articles", []string{media("v2"), media("v3") + ";q=0.5"}, 0, "v3", "/articles", media("v3")},
		{"contradiction", "/v3/articles", []string{media("v2")}, 406, "v3", "/articles", ""},
		{"contradiction with an unknown one", "/v3/articles", []string{media("v9") + ", text/html"}, 406, "v3", "/articles", ""},
		{"contradiction in itself", "/v3/articles", []string{media("v3") + ";q=0"}, 406, "v3", "/articles", ""},
		{"contradiction, no JSON though anything", "/v3/articles", []string{media("v2") + ", */*, " + json + ";q=0"}, 406, "v3", "/articles", ""},
		{"another, or JSON", "/v3/articles", []string{media("v2"), json + ";q=0.1"}, 0, "v3", "/articles", ""},
		{"another, or anything of applications", "/v3/articles", []string{media("v2"), "application/*"}, 0, "v3", "/articles", ""},
		{"nothing about versions", "/v3/articles", []string{"text/html"}, 0, "v3", "/articles", ""},
		{"contradiction and ended", "/v1/articles", []string{media("v2")}, 406, "v1", "/articles", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, refused := acme(t).Negotiate(c.path, c.accept)
			status, name := 0, ""
			if refused != nil {
				if status = refused.Status; refused.Message == "" {
					t.Error("nothing is said")
				}
			}
			if got.Version != nil {
				name = got.Version.Name
			}
			if status != c.status || name != c.version || got.Path != c.rest || got.MediaType != c.media {
				t.Errorf("%d %q %q %q", status, name, got.Path, got.MediaType)
			}
			if prefix := strings.TrimSuffix(c.path, got.Path); (got.Prefix != "") != (got.Version != nil && prefix != "") || got.Prefix != "" && got.Prefix != "/"+name {
				t.Errorf("prefix %q", got.Prefix)
			}
			h := http.Header{}
			got.Header(h)
			if h.Get("Vary") != "Accept" {
				t.Error("caches do not hear that Accept was looked at")
			}
		})
	}
}

func TestAcceptIsIgnoredWithoutAVendor(t *testing.T) {
	s := acme(t, func(c *Config) { c.Vendor = "" })
	for _, path := range []string{"/articles", "/v3/articles"} {
		c, refused := s.Negotiate(path, []string{media("v9"), "application/vnd..v2+json", "application/vnd.v2+json"})
		if refused != nil || c.MediaType != "" {
			t.Error(path, refused, c.MediaType)
		}
		h := http.Header{}
		if c.Header(h); len(h) != 0 {
			t.Error(h)
		}
	}
}

func TestWithoutVersionsNothingIsVersioned(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	c, refused := s.Negotiate("/v1/articles", []string{media("v9")})
	if refused != nil || c.Index != -1 || c.Path != "/v1/articles" || c.Prefix != "" {
		t.Error(c, refused)
	}
}

func TestVersionEndsAtItsSunsetIfConfigured(t *testing.T) {
	at := now
	s := acme(t, func(c *Config) { c.Now = func() time.Time { return at } })
	status := func(path string) int {
		if _, refused := s.Negotiate(path, nil); refused != nil {
			return refused.Status
		}
		return 0
	}
	at = now.Add(-time.Nanosecond)
	if got := status("/v1/x"); got != 0 {
		t.Error("before:", got)
	}
	at = now
	if got := status("/v1/x"); got != 410 {
		t.Error("at once:", got)
	}
	s = acme(t, func(c *Config) { c.Versions[0].Gone = false })
	if got := status("/v1/x"); got != 0 {
		t.Error("though it stays:", got)
	}
}

func TestVersionHeadersOfEveryAnswer(t *testing.T) {
	choose := func(path string) Choice {
		c, _ := acme(t).Negotiate(path, nil)
		return c
	}
	for _, c := range []struct {
		path          string
		present, want http.Header
	}{
		{"/v1/x", nil, http.Header{
			"Deprecation": {"@1732190400"}, "Sunset": {"Sat, 21 Nov 2026 12:00:00 GMT"}, "Vary": {"Accept"},
			"Link": {`</v2>; rel="successor-version"`, `<https://api.example/moving>; rel="deprecation sunset"`},
		}},
		{"/v2/x", nil, http.Header{"Deprecation": {"@1797854400"}, "Sunset": {"Sun, 21 Nov 2027 12:00:00 GMT"}, "Vary": {"Accept"}}},
		{"/v3/x", nil, http.Header{"Vary": {"Accept"}}},
		{"/x", nil, http.Header{"Vary": {"Accept"}}},
		{"/v9/x", nil, http.Header{"Vary": {"Accept"}}},
		{"/v3/x", http.Header{"Vary": {"Accept-Encoding, accept"}}, http.Header{"Vary": {"Accept-Encoding, accept"}}},
		{"/v3/x", http.Header{"Vary": {"*"}}, http.Header{"Vary": {"*"}}},
		{"/v3/x", http.Header{"Vary": {"Accept-Encoding"}}, http.Header{"Vary": {"Accept-Encoding", "Accept"}}},
		{
			"/v1/x", http.Header{"Deprecation": {"true"}, "Sunset": {"x"}, "Link": {`</articles?page=1>; rel="first"`}, "Vary": {"Accept"}},
			http.Header{
				"Deprecation": {"@1732190400"}, "Sunset": {"Sat, 21 Nov 2026 12:00:00 GMT"}, "Vary": {"Accept"},
				"Link": {`</articles?page=1>; rel="first"`, `</v2>; rel="successor-version"`, `<https://api.example/moving>; rel="deprecation sunset"`},
			},
		},
	} {
		h := c.present.Clone()
		if h == nil {
			h = http.Header{}
		}
		for _, time := range []string{"once", "again"} {
			choose(c.path).Header(h)
			if diff := cmp.Diff(c.want, h); diff != "" {
				t.Errorf("%s %v, %s: %s", c.path, c.present, time, diff)
			}
		}
	}
}

func TestDocLinksOnlyTheDatesThatAreSet(t *testing.T) {
	for _, c := range []struct {
		v    Version
		want string
	}{
		{Version{Doc: "/d", Deprecated: now}, `</d>; rel="deprecation"`},
		{Version{Doc: "/d", Sunset: now}, `</d>; rel="sunset"`},
	} {
		if got := c.v.links(); !slices.Equal(got, []string{c.want}) {
			t.Error(got)
		}
	}
}

func TestInvalidVersionConfigIsRefused(t *testing.T) {
	clock := func() time.Time { return now }
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Vendor: "acme", Now: clock}, "vendor acme: expected a version"},
		{Config{Vendor: "ac me", Versions: []Version{{Name: "v1"}}, Now: clock}, `vendor "ac me"`},
		{Config{Vendor: "acme/x", Versions: []Version{{Name: "v1"}}, Now: clock}, `vendor "acme/x"`},
		{Config{Vendor: "acme.", Versions: []Version{{Name: "v1"}}, Now: clock}, `vendor "acme."`},
		{Config{Versions: []Version{{Name: "v1"}}}, "expected a clock"},
		{Config{Versions: []Version{{Name: "v1"}, {Name: "v1"}}, Now: clock}, "version v1: it is declared twice"},
		{Config{Versions: []Version{{Name: "1"}}, Now: clock}, `version "1"`},
		{Config{Versions: []Version{{Name: "v"}}, Now: clock}, `version "v"`},
		{Config{Versions: []Version{{Name: "v01"}}, Now: clock}, `version "v01"`},
		{Config{Versions: []Version{{Name: "v1.2"}}, Now: clock}, `version "v1.2"`},
		{Config{Versions: []Version{{Name: "V1"}}, Now: clock}, `version "V1"`},
		{Config{Versions: []Version{{Name: "v1", Gone: true}}, Now: clock}, "gone: expected sunset too"},
		{Config{Versions: []Version{{Name: "v1", Deprecated: now, Sunset: now.Add(-1)}}, Now: clock}, "sunset 2026-11-21: expected no time before deprecated"},
		{Config{Versions: []Version{{Name: "v1", Doc: "/d"}}, Now: clock}, "doc /d: expected deprecated or sunset"},
		{Config{Versions: []Version{{Name: "v1", Successor: "v2"}}, Now: clock}, `successor "v2"`},
		{Config{Versions: []Version{{Name: "v1", Successor: "//evil.example"}}, Now: clock}, "successor"},
		{Config{Versions: []Version{{Name: "v1", Successor: "javascript:x"}}, Now: clock}, "successor"},
		{Config{Versions: []Version{{Name: "v1", Successor: "/v2>; rel=x"}}, Now: clock}, "successor"},
		{Config{Versions: []Version{{Name: "v1", Deprecated: now, Doc: "https://"}}, Now: clock}, `doc "https://"`},
	} {
		if _, err := New(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
	for _, name := range []string{"acme", "acme.labs", "Acme-2"} {
		if _, err := New(Config{Vendor: name, Versions: []Version{{Name: "v0"}, {Name: "v10"}}, Now: clock}); err != nil {
			t.Error(err)
		}
	}
}

func TestQualityWeightsFollowTheRFC(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "0.": 0, "0.0": 0, "0.001": 1, "0.5": 500, "0.999": 999, "1": 1000, "1.": 1000, "1.000": 1000,
		"": 0, ".5": 0, "1.001": 0, "2": 0, "-1": 0, "0.0001": 0, "1e0": 0, "0,5": 0, "NaN": 0, "Inf": 0, "0x1": 0, "+1": 0, "0.5 ": 0, "0.a": 0,
	} {
		if got := weight(text); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}
