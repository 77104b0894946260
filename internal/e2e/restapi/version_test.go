package restapi

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const versioned = `"vendor": "acme", "upstream": $TO, "versions": [
	{"name": "v1", "strip_prefix": true, "deprecated": "2026-01-01T00:00:00Z", "sunset": "2099-01-01T00:00:00Z", "successor": "/v2/"},
	{"name": "v2", "upstream": [{"handle": [{"handler": "reverse_proxy", "upstreams": [{"dial": "$SECOND"}]}]}],
		"resources": [{"path": "things", "item": "/data", "id": "/id", "links": [{"rel": "self"}]}]},
	{"name": "v0", "sunset": "2020-01-01T00:00:00Z", "gone": true}
], "resources": [{"path": "things", "item": "/r", "id": "/id", "links": [{"rel": "self"}]}]`

func TestEachVersionHasItsUpstream(t *testing.T) {
	first, second := harness.NewUpstream(t), harness.NewUpstream(t)
	r := start(t, first.Addr, strings.ReplaceAll(versioned, "$SECOND", second.Addr))
	first.Answer(says("application/json", `{"r":{"id":1}}`))
	second.Answer(says("application/json", `{"data":{"id":2}}`))
	const v1, v2 = "application/vnd.acme.v1+json", "application/vnd.acme.v2+json"
	for _, c := range []struct {
		path, accept     string
		status           int
		media, want      string
		deprecated, vary bool
	}{
		{"/v1/things/1", "", 200, "application/json", `{"id":1,"links":[{"rel":"self","method":"GET","href":"/v1/things/1"}]}`, true, true},
		{"/v2/things/1", "", 200, "application/json", `{"id":2,"links":[{"rel":"self","method":"GET","href":"/v2/things/2"}]}`, false, true},
		{"/things/1", v1, 200, v1, `{"id":1,"links":[{"rel":"self","method":"GET","href":"/things/1"}]}`, true, true},
		{"/things/1", v2, 200, v2, `{"id":2,"links":[{"rel":"self","method":"GET","href":"/things/2"}]}`, false, true},
		{"/v2/things/1", v2, 200, v2, `{"id":2,"links":[{"rel":"self","method":"GET","href":"/v2/things/2"}]}`, false, true},
		{"/v2/things/1", v1, 406, "application/json", "", false, true},
		{"/v9/things/1", "", 404, "application/json", "", false, true},
		{"/things/1", "application/vnd.acme.v9+json", 406, "application/json", "", false, true},
		{"/v1/nothing", "", 404, "application/json", "", true, true},
		{"/v1/things?other=1", "", 400, "application/json", "", true, true},
		{"/v0/things/1", "", 410, "application/json", "", false, true},
	} {
		header := []string{}
		if c.accept != "" {
			header = []string{"Accept", c.accept}
		}
		p := r.do("reader", http.MethodGet, c.path, "", header...)
		h := p.Header
		if p.Status != c.status || h.Get("Content-Type") != c.media || c.want != "" && p.Body != c.want ||
			(h.Get("Deprecation") == "@1767225600" && strings.Contains(h.Get("Link"), "/v2/")) != c.deprecated || httpguts.HeaderValuesContainsToken(h.Values("Vary"), "Accept") != c.vary {
			t.Errorf("%s %s: %d %v %s", c.path, c.accept, p.Status, h, p.Body)
		}
	}
	for _, hit := range first.Hits() {
		if hit.URL.Path != "/things/1" || hit.Header.Get("Accept") != "application/json" {
			t.Errorf("%s %v", hit.RequestURI, hit.Header)
		}
	}
}

// Accept is no way around what guard and limit say of a version's own address.
func TestVersionInAcceptIsAuthorizedLikeThePath(t *testing.T) {
	first, second := harness.NewUpstream(t), harness.NewUpstream(t)
	first.Answer(says("application/json", `{"r":{"id":1}}`))
	second.Answer(says("application/json", `{"data":{"id":2}}`))
	const of = "\t\tscope read GET,HEAD,OPTIONS /*\n"
	const limit = "\tapi_limit {\n\t\tclient 10 1h\n\t\tcost 4 /v2/things/*\n\t}\n"
	r := startIn(t, "\t\tpublic * /open /open/*\n"+of+"\t\tscope write POST,PUT,PATCH,DELETE /*\n\t\tallow_encoded_slash\n\t}\n",
		"\t\tscope write /v2 /v2/*\n\t\tpublic GET /v1/*\n"+of+"\t\tscope write PATCH /*\n\t}\n"+limit, first.Addr, strings.ReplaceAll(versioned, "$SECOND", second.Addr))
	const v1, v2 = "application/vnd.acme.v1+json", "application/vnd.acme.v2+json"
	for _, c := range []struct {
		client, path, accept string
		status               int
		left                 string
	}{
		{"reader", "/v2/things/1", "", 403, ""},
		{"reader", "/things/1", v2, 403, "9"},
		{"reader", "/things/1", v2 + ", application/json;q=0.5", 403, "8"},
		{"reader", "/things/1", v1, 200, "7"},
		{"reader", "/things/1", "", 200, "6"},
		{"writer", "/v2/things/1", "", 200, "6"},
		{"writer", "/things/1", v2, 200, "2"},
		{"writer", "/things/1", v2, 429, "0"},
		{"writer", "/things/1", v1, 200, "0"},
	} {
		header := []string{}
		if c.accept != "" {
			header = []string{"Accept", c.accept}
		}
		p := r.do(c.client, http.MethodGet, c.path, "", header...)
		if p.Status != c.status || p.Header.Get("X-Ratelimit-Remaining") != c.left {
			t.Errorf("%s %s %s: %d, %s left: %s", c.client, c.path, c.accept, p.Status, p.Header.Get("X-Ratelimit-Remaining"), p.Body)
		}
	}
	if len(first.Hits()) != 3 || len(second.Hits()) != 2 {
		t.Error("what was refused reached an upstream")
	}
}

func TestPassedVersionIsStrippedAndRestoredInAddresses(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "versions": [{"name": "v1", "strip_prefix": true}, {"name": "v2"}]`)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Location", q.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	})
	for _, c := range []struct{ path, to, sent, want string }{
		{"/v1/a/b", "/x?y=1", "/a/b", "/v1/x?y=1"},
		{"/v1/a/b", "c", "/a/b", "/v1/a/c"},
		{"/v1/a/b", "http://" + u.Addr + "/x", "/a/b", "/v1/x"},
		{"/v1/a/b", "https://cdn.example/x", "/a/b", "https://cdn.example/x"},
		{"/v1", "/x", "/", "/v1/x"},
		{"/v1/a%2Fb", "/x", "/a%2Fb", "/v1/x"},
		{"/v2/a", "/v2/x", "/v2/a", "/v2/x"},
		{"/a", "/x", "/a", "/x"},
	} {
		p := r.do("reader", http.MethodGet, c.path+"?to="+c.to, "")
		hits := u.Hits()
		if p.Status != 302 || p.Header.Get("Location") != c.want || len(hits) != 1 || hits[0].URL.EscapedPath() != c.sent {
			t.Errorf("%s %s: %d %v %v", c.path, c.to, p.Status, p.Header, hits)
		}
	}
}

func TestUpstreamLocationsAreMappedToTheClients(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things", "routes": [
		{"method": "GET", "path": "/things/{id:.+}", "upstream": "/t.php?act=get&k={id}"},
		{"method": "POST", "path": "/things", "upstream": "/t.php?act=add"}], "created": {"status": 201, "id": "/id"}}]`)
	for _, c := range []struct {
		method       string
		status       int
		at, body     string
		want         int
		wantLocation string
	}{
		{"GET", 301, "/t.php?k=a%2Fb+c&act=get&sid=9", "", 301, "/things/a%2Fb%20c"},
		{"GET", 302, "t.php?act=get&k=7", "", 302, "/things/7"},
		{"GET", 302, "http://" + u.Addr + "/t.php?act=get&k=7", "", 302, "/things/7"},
		{"GET", 302, "http://localhost/t.php?act=del&k=7", "", 302, "http://localhost/t.php?act=del&k=7"},
		{"GET", 302, "/login.php", "", 502, ""},
		{"GET", 302, "/t.php?act=get&k=..", "", 502, ""},
		{"POST", 303, "/t.php?act=get&k=8", "", 201, "/things/8"},
		// To whom somebody else is to be asked, nothing was made.
		{"POST", 302, "https://sso.example/login?back=/things/8", "", 302, "https://sso.example/login?back=/things/8"},
		{"POST", 303, "https://sso.example/things/8", "", 303, "https://sso.example/things/8"},
		{"POST", 302, "/login.php", "", 502, ""},
		{"POST", 201, "/t.php?act=get&k=9", `{"id":10}`, 201, "/things/10"},
		{"POST", 201, "/t.php?act=get&k=9", `{"ok":true}`, 201, "/things/9"},
		{"POST", 201, "/elsewhere", `{"ok":true}`, 201, ""},
	} {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", c.at)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		path, body := "/things/1", ""
		if c.method == "POST" {
			path, body = "/things", "{}"
		}
		p := r.do("writer", c.method, path, body)
		if p.Status != c.want || p.Header.Get("Location") != c.wantLocation {
			t.Errorf("%s %s: %d %v %s", c.method, c.at, p.Status, p.Header, p.Body)
		}
	}
}

func TestSubrouteKnowsTheCallerAndItsRequest(t *testing.T) {
	u := harness.NewUpstream(t)
	to := `[{"handle": [
		{"handler": "headers", "request": {"set": {"X-Who": ["{http.auth.user.client_id}"], "X-At": ["{http.request.uri}"]}}},
		{"handler": "reverse_proxy", "upstreams": [{"dial": "` + u.Addr + `"}]}]}]`
	r := start(t, u.Addr, `"upstream": `+to+`, "resources": [{"path": "things", "routes": [{"method": "GET", "path": "/things", "upstream": "/t.php?x=1"}]}]`)
	r.do("reader", http.MethodGet, "/things", "")
	if hits := u.Hits(); len(hits) != 1 || hits[0].Header.Get("X-Who") != "reader" || hits[0].Header.Get("X-At") != "/t.php?x=1" {
		t.Errorf("%v", hits)
	}
	r.ChangeConfigs(r.with(u.Addr, `"upstream": [{"match": [{"path": ["/only"]}], "handle": [{"handler": "static_response"}]}]`))
	r.Load(t, site)
	wantError(t, r.do("reader", http.MethodGet, "/things", ""), 502, "upstream_unreachable", "")
}

// nginx 1.22 heeds only the last line of Vary: it would give one version to a client that accepts another.
func TestCacheableVersionsVaryInOneLine(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Vary"] = []string{"Cookie", "Accept-Language"}
		w.Header().Set("Cache-Control", "max-age=60")
		says("application/json", `{"r":{"id":1}}`)(w, r)
	})
	r := start(t, u.Addr, strings.ReplaceAll(versioned, "$SECOND", u.Addr), "\toauth_guard {\n\t\tpublic", "\tencode {\n\t\tminimum_length 9\n\t}\n\toauth_guard {\n\t\tpublic * /v1/* /things/*\n\t\tpublic")
	for _, accept := range []string{"application/json", "application/vnd.acme.v1+json"} {
		p := r.do("", http.MethodGet, "/v1/things/1", "", "Accept", accept)
		if vary := p.Header["Vary"]; p.Status != http.StatusOK || len(vary) != 1 || !httpguts.HeaderValuesContainsToken(vary, "Accept") {
			t.Errorf("%s: %d, Vary %q", accept, p.Status, vary)
		}
	}
}
