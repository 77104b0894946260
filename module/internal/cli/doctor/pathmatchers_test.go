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
		asks   = `{"handler":"reverse_proxy","upstreams":[{"dial":"10.0.0.1:80"}],"handle_response":[{}]}`
	)
	all := func(handlers ...string) string { return `{"handle":[` + strings.Join(handlers, ",") + `]}` }
	at := func(match string, handlers ...string) string {
		return `{"group":"g","match":[{` + match + `}],"handle":[{"handler":"subroute","routes":[` + all(handlers...) + `]}]}`
	}
	const path, method = `"path":["/admin/*"]`, `"method":["POST"]`
	for name, c := range map[string]struct {
		routes []string
		want   string
	}{
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
				}
				if want := strings.Fields(c.want); !slices.Equal(checks, want) {
					t.Errorf("%q, want %q", checks, want)
				}
			}
		})
	}
}
