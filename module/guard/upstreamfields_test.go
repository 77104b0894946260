package guard

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// strip strips a header, and says what was in it.
func strip(a *Answer, h http.Header) (found string) {
	a.Strip(h, func(f AnswerField) { found += string(f) + " " })
	return strings.TrimSpace(found)
}

func TestUpstreamCookiesArePreserved(t *testing.T) {
	a := NewAnswer("articles")
	for line, ours := range map[string]bool{
		"gatehouse=x; Path=/":                true,
		"gatehouse=":                         true,
		"gatehouse":                          true,
		"gatehouse; Path=/":                  true,
		"__Host-gatehouse=x; Secure; Path=/": true,
		"__host-GATEHOUSE-browser=x; Secure": true,
		"__Secure-gatehouse-frame=x":         true,
		"gatehouse-anything=x":               true,
		" \t gatehouse \t =x":                true,
		"\x0b\x0cgatehouse\x1f=x":            true,
		"=gatehouse=x":                       true,
		" = =gatehouse=x; Path=/":            true,
		"=__Host-gatehouse=x":                true,
		"=gatehouse":                         true,
		";gatehouse=x":                       true,
		`"gatehouse"=x`:                      true,
		`="gatehouse=x"`:                     true,
		"":                                   false,
		"=":                                  false,
		"PHPSESSID=gatehouse; Path=/":        false,
		"session=x; comment=gatehouse=1; gatehouse": false,
		"gatehouses=x":     false,
		"my-gatehouse=x":   false,
		"a=1, gatehouse=x": false,
	} {
		for _, name := range []string{"Set-Cookie", "Trailer:Set-Cookie"} {
			sent := []string{"first=1", line, "last=2"}
			h := http.Header{name: sent, "X-Own": {"y"}}
			found, want := strip(a, h), http.Header{name: {"first=1", line, "last=2"}, "X-Own": {"y"}}
			if ours {
				want[name] = []string{"first=1", "last=2"}
			}
			if diff := cmp.Diff(want, h); diff != "" || (found == "set_cookie") != ours || !slices.Equal(sent, []string{"first=1", line, "last=2"}) {
				t.Errorf("%s: %q: found %q, %s", name, line, found, diff)
			}
			if h := (http.Header{name: {line, line}}); ours && (strip(a, h) == "" || len(h) > 0) {
				t.Errorf("%v", h)
			}
		}
	}
}

func TestUpstreamChallengesArePreserved(t *testing.T) {
	a := NewAnswer("My API")
	for line, ours := range map[string]bool{
		`Bearer realm="My API"`:                                       true,
		`bearer Realm="my api", error="invalid_token"`:                true,
		`Basic realm = "My API"`:                                      true,
		`Bearer error="invalid_token", realm="My API"`:                true,
		`Bearer realm="M\y \API"`:                                     true,
		`Basic realm="own", Bearer realm="My API"`:                    true,
		`Bearer error_description="a \"b\", realm=c", realm="My API"`: true,
		`Bearer x="unterminated, realm="My API"`:                      true,
		`Basic realm="gatehouse", charset="UTF-8"`:                    true,
		`Bearer realm=gatehouse`:                                      true,
		`Basic realm="own"`:                                           false,
		`Bearer realm="My API 2"`:                                     false,
		`Bearer realm="My APIs"`:                                      false,
		`Bearer realm="Not My API"`:                                   false,
		`Bearer scope="My API"`:                                       false,
		`Negotiate`:                                                   false,
		``:                                                            false,
	} {
		h := http.Header{"Www-Authenticate": {line, `Digest realm="own"`}}
		found := strip(a, h)
		if (found == "www_authenticate") != ours || len(h["Www-Authenticate"]) != map[bool]int{true: 1, false: 2}[ours] {
			t.Errorf("%s: %q %v", line, found, h)
		}
	}
}

func TestUpstreamCannotClearOurCookies(t *testing.T) {
	a := NewAnswer()
	for value, ours := range map[string]bool{
		`"cookies"`: true, `"*"`: true, `"cache", "cookies"`: true, `"storage","Cookies" ,"cache"`: true, `cookies`: true, `*`: true, `"coo kies"`: true, `"c\ookies"`: true,
		`"cache"`: false, `"storage", "cache"`: false, `"executionContexts"`: false, ``: false, `"cookies2"`: false,
	} {
		h := http.Header{"Clear-Site-Data": {value}}
		if found := strip(a, h); (found == "clear_site_data") != ours || (len(h) == 0) != ours {
			t.Errorf("%s: %q %v", value, found, h)
		}
	}
}

func TestUnaffectedAnswerCostsNoAllocation(t *testing.T) {
	a := NewAnswer("articles")
	h := http.Header{"Content-Type": {"application/json"}, "Set-Cookie": {"PHPSESSID=1; Path=/"}, "Etag": {`"x"`}}
	ignore := func(AnswerField) {}
	if n := testing.AllocsPerRun(100, func() { a.Strip(h, ignore) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStripAnswer(b *testing.B) {
	a := NewAnswer("articles")
	h := http.Header{"Content-Type": {"application/json"}, "Content-Length": {"10"}, "Etag": {`"x"`}, "Date": {"x"}}
	ignore := func(AnswerField) {}
	b.ReportAllocs()
	for b.Loop() {
		a.Strip(h, ignore)
	}
}
