package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

func TestDoctorFindsGuardsBehindPathMatchers(t *testing.T) {
	const (
		guard  = `{"handler":"gatehouse_guard","rules":[{"public":true,"methods":["*"],"paths":["/*"]}]}`
		limit  = `{"handler":"gatehouse_limit","policies":[{"name":"ip","by":"ip","limit":5,"window":"1m"}]}`
		proxy  = `{"handler":"reverse_proxy","upstreams":[{"dial":"10.0.0.1:80"}]}`
		other  = `{"handler":"gatehouse_proxy","upstreams":["10.0.0.2:80"]}`
		same   = `{"handler":"gatehouse_rest","upstream":[{"handle":[{"handler":"gatehouse_proxy","upstreams":["10.0.0.1:80"]}]}]}`
		static = `{"handler":"file_server"}`
		asks   = `{"handler":"reverse_proxy","upstreams":[{"dial":"10.0.0.1:80"}],"handle_response":[{"match":{"status_code":[2]},"routes":[{"handle":[{"handler":"headers"}]}]}]}`
		errs   = `{"handler":"reverse_proxy","upstreams":[{"dial":"10.0.0.1:80"}],"handle_response":[{"match":{"status_code":[5]},"routes":[{"handle":[{"handler":"static_response"}]}]}]}`
		copies = `{"handler":"reverse_proxy","upstreams":[{"dial":"10.0.0.1:80"}],"handle_response":[{"routes":[{"handle":[{"handler":"copy_response"}]}]}]}`
		found  = `{"handler":"reverse_proxy","dynamic_upstreams":{"source":"a","name":"api"}}`
		front  = `{"handler":"reverse_proxy","dynamic_upstreams":{"source":"a","name":"front"}}`
	)
	all := func(handlers ...string) string { return `{"handle":[` + strings.Join(handlers, ",") + `]}` }
	at := func(match string, handlers ...string) string {
		return `{"group":"g","match":[{` + match + `}],"handle":[{"handler":"subroute","routes":[` + all(handlers...) + `]}]}`
	}
	const path, method = `"path":["/admin/*"]`, `"method":["POST"]`
	expression := func(text string) string { return fmt.Sprintf(`"expression":{"expr":%q,"name":"x"}`, text) }
	for name, c := range map[string]struct {
		routes []string
		want   string
	}{
		"a WebSocket beside it":           {[]string{at(`"header":{"Connection":["*Upgrade*"],"Upgrade":["websocket"]}`, proxy), at(path, guard, other), all(guard, proxy)}, "choice"},
		"a query":                         {[]string{at(`"query":{"admin":["*"]}`, guard, proxy), all(proxy)}, "choice"},
		"a query for GET":                 {[]string{at(`"method":["GET"],"query":{"a":["*"]}`, proxy), all(guard, proxy)}, "choice"},
		"preflights":                      {[]string{at(`"method":["OPTIONS"],"header":{"Origin":["*"]}`, proxy), all(guard, proxy)}, ""},
		"a secret field":                  {[]string{at(`"header":{"X-Key":["{env.KEY}"]}`, proxy), all(guard, proxy)}, ""},
		"addresses":                       {[]string{at(`"remote_ip":{"ranges":["10.0.0.0/8"]}`, proxy), all(guard, proxy)}, ""},
		"no addresses":                    {[]string{at(`"not":[{"client_ip":{"ranges":["10.0.0.0/8"]}}]`, guard, proxy), all(proxy)}, ""},
		"tokens":                          {[]string{at(`"oauth_scope":{"scopes":["read"]}`, proxy), all(guard, proxy)}, ""},
		"no tokens":                       {[]string{at(`"not":[{"oauth_scope":{"scopes":["read"]}}]`, proxy), all(guard, proxy)}, "choice"},
		"no header":                       {[]string{at(`"not":[{"header":{"X-Open":["*"]}}]`, guard, proxy), all(proxy)}, "choice"},
		"a variable of the path":          {[]string{at(`"vars_regexp":{"{http.request.uri.path}":{"pattern":"^/admin"}}`, guard, proxy), all(proxy)}, "guard"},
		"a variable":                      {[]string{at(`"vars":{"area":["admin"]}`, guard, proxy), all(proxy)}, "choice"},
		"a file":                          {[]string{at(`"file":{"try_files":["/admin"]}`, guard, proxy), all(proxy)}, "guard"},
		"an expression of the URI":        {[]string{at(expression(`{http.request.uri}.startsWith("/admin")`), guard, proxy), all(proxy)}, "guard"},
		"an expression of the query":      {[]string{at(expression(`{http.request.uri.query.a} == "1"`), guard, proxy), all(proxy)}, "choice"},
		"an expression of a header":       {[]string{at(expression(`header({"X-A": "1"})`), guard, proxy), all(proxy)}, "choice"},
		"an expression of the method":     {[]string{at(expression(`{http.request.method} in ["POST", "header"] || method('PUT')`), guard, proxy), all(proxy)}, ""},
		"an expression of the host":       {[]string{at(expression(`{http.request.host}.startsWith("api") && !remote_ip("10.0.0.0/8")`), guard, proxy), all(proxy)}, ""},
		"a limit by query":                {[]string{at(`"query":{"a":["*"]}`, limit, proxy), all(proxy)}, ""},
		"an API that is left to errors":   {[]string{at(path, guard, proxy), all(errs)}, "guard"},
		"an API whose response is copied": {[]string{at(path, guard, proxy), all(copies)}, "guard"},
		"an API that is looked up":        {[]string{at(path, guard, found), all(found)}, "guard"},
		"others that are looked up":       {[]string{at(path, guard, found), all(front)}, ""},
		"an address in capitals":          {[]string{at(path, guard, `{"handler":"reverse_proxy","upstreams":[{"dial":"API.internal:80"}]}`), all(`{"handler":"gatehouse_proxy","upstreams":["api.internal"]}`)}, "guard"},
		"a guard with a matcher":          {[]string{`{"match":[{` + path + `}],"handle":[` + guard + `]}`, all(proxy)}, "guard"},
		"a guard in a handle":             {[]string{at(path, guard, proxy), at(method, same), all(other)}, "guard"},
		"another API beside it":           {[]string{at(path, guard, proxy), all(other)}, ""},
		"files beside it":                 {[]string{at(path, guard, proxy), all(static)}, ""},
		"an API that is asked":            {[]string{at(path, guard, proxy), all(asks, static)}, ""},
		"a guard for both":                {[]string{all(guard), at(path, guard, proxy), all(proxy)}, ""},
		"a guard in each":                 {[]string{at(path, guard, proxy), at(`"path":["/*"]`, guard, proxy)}, ""},
		"a guard by method":               {[]string{at(method, guard, proxy), all(proxy)}, ""},
		"everything but a path":           {[]string{`{"match":[{"not":[{"path":["/public/*"]}]}],"handle":[` + guard + `]}`, all(proxy)}, "guard"},
		"an expression":                   {[]string{`{"match":[{"expression":"path('/admin/*')"}],"handle":[` + guard + `]}`, all(proxy)}, "guard"},
		"a public path in front":          {[]string{at(`"path":["/public/*"]`, proxy), `{"group":"g","handle":[{"handler":"subroute","routes":[` + all(guard, proxy) + `]}]}`}, "guard"},
		"another API at the public path":  {[]string{at(`"path":["/public/*"]`, other), all(guard), all(proxy)}, ""},
		"named routes that fork":          {[]string{all(`{"handler":"invoke","name":"fork"}`), all(proxy)}, ""},
		"a guard by expression":           {[]string{at(`"path_regexp":{"pattern":"^/a"}`, guard, proxy), all(proxy)}, "guard"},
		"a limit with a matcher":          {[]string{`{"match":[{` + path + `}],"handle":[` + limit + `]}`, all(proxy)}, "limit"},
		"a limit behind a guard":          {[]string{all(guard), `{"match":[{` + path + `}],"handle":[` + limit + `]}`, all(proxy)}, ""},
		"a limit in a handle":             {[]string{at(path, limit, proxy), all(same)}, "limit"},
		"a limit for all":                 {[]string{all(limit), all(proxy)}, ""},
		"a guard and a limit in a handle": {[]string{at(path, guard, limit, proxy), all(proxy)}, "guard"},
		"a provider with a matcher":       {[]string{`{"match":[{` + path + `}],"handle":[{"handler":"authentication","providers":{"gatehouse":{}}}]}`, all(proxy)}, "guard"},
		"in a named route":                {[]string{`{"match":[{` + path + `}],"handle":[{"handler":"invoke","name":"front"}]}`, all(proxy)}, "guard"},
		"named routes without an end":     {[]string{all(`{"handler":"invoke","name":"loop"}`), all(proxy)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, site := range []string{`{"match":[{"host":["api.example"]}],"terminal":true,"handle":[{"handler":"subroute","routes":[%s]}]}`, `%s`} { // the second is the only one of its server
				text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],
				"named_routes":{"front":%s,"loop":{"handle":[{"handler":"invoke","name":"loop"}]},
				"fork":{"handle":[{"handler":"subroute","routes":[{"match":[{"path":["/a/*"]}],"handle":[{"handler":"invoke","name":"fork"}]},{"match":[{"path":["/b/*"]}],"handle":[{"handler":"invoke","name":"fork"}]}]}]}},
				"routes":[%s]}}}}}`, all(guard), fmt.Sprintf(site, strings.Join(c.routes, ",")))
				if !json.Valid([]byte(text)) {
					t.Fatal(text)
				}
				found, err := Configuration([]byte(text), adminapi.Examination{Issuer: "https://id.example"})
				if err != nil {
					t.Fatal(err)
				}
				var checks []string
				for _, f := range found {
					if strings.HasPrefix(f.Message, "a path matcher of the site") {
						checks = append(checks, f.Check)
					}
					if strings.HasPrefix(f.Message, "a matcher of the site") {
						checks = append(checks, "choice")
					}
				}
				if want := strings.Fields(c.want); !slices.Equal(checks, want) {
					t.Errorf("%q, want %q", checks, want)
				}
			}
		})
	}
}

func TestAddressesOfTheSameServerHaveOneForm(t *testing.T) {
	for _, same := range [][]string{
		{"localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LocalHost.:8080", ":8080", "http://localhost:8080", "tcp/127.0.0.1:8080"},
		{"a.internal:80", "A.internal", "http://a.internal", "h2c://a.internal"},
		{"a.internal:443", "https://a.internal"},
		{"unix//run/a.sock"}, {"unix//run/A.sock"}, {""}, {"{env.API}"}, {"a.internal:8080"}, {"[2001:db8::1]:80", "[2001:DB8::1]"},
	} {
		for _, other := range same {
			if oneForm(other) != oneForm(same[0]) {
				t.Errorf("%s is %s, %s is %s", same[0], oneForm(same[0]), other, oneForm(other))
			}
		}
	}
}

func TestDoctorFindsAPIsThatAnotherSiteGuards(t *testing.T) {
	const guard, proxy = `{"handler":"gatehouse_guard","rules":[{"public":true,"methods":["*"],"paths":["/*"]}]}`, `{"handler":"reverse_proxy","upstreams":[{"dial":"10.0.0.1:80"}]}`
	for name, c := range map[string]struct {
		listen, match, handle string
		want                  bool
	}{
		"everybody":         {":443", `"host":["www.example"]`, strings.Replace(proxy, "10.0.0.1:80", "10.0.0.1", 1), true},
		"another API":       {":443", `"host":["www.example"]`, strings.Replace(proxy, "10.0.0.1", "10.0.0.2", 1), false},
		"a password":        {":443", `"host":["www.example"]`, `{"handler":"authentication","providers":{"http_basic":{}}},` + proxy, false},
		"this machine":      {"127.0.0.1:9000", `"host":["www.example"]`, proxy, false},
		"some addresses":    {":443", `"host":["www.example"],"remote_ip":{"ranges":["10.0.0.0/8"]}`, proxy, false},
		"a guard there too": {":443", `"host":["www.example"]`, guard + "," + proxy, false},
	} {
		text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"a":{"listen":[":443"],"routes":[{"match":[{"host":["api.example"]}],"terminal":true,"handle":[%s,%s]}]},
			"b":{"listen":[%q],"routes":[{"match":[{%s}],"terminal":true,"handle":[%s]}]}}}}}`, guard, proxy, c.listen, c.match, c.handle)
		found, err := Configuration([]byte(text), adminapi.Examination{Issuer: "https://id.example"})
		if err != nil {
			t.Fatal(err, text)
		}
		got := slices.ContainsFunc(found, func(f adminapi.Finding) bool {
			return strings.Contains(f.Message, "which is in front of the same API on the site api.example :443")
		})
		if got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
