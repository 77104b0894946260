package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
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
		"gRPC":                            {[]string{at(`"protocol":"grpc"`, proxy), all(guard, proxy)}, "choice"},
		"HTTP/3":                          {[]string{at(`"protocol":"http/3"`, proxy), all(guard, proxy)}, "choice"},
		"TLS":                             {[]string{at(`"protocol":"https"`, guard, proxy), all(proxy)}, "choice"},
		"a pattern of addresses":          {[]string{at(`"url_pattern":{"pattern":"/admin/*"}`, guard, proxy), all(proxy)}, "guard"},
		"the name of the server":          {[]string{at(expression(`{http.request.tls.server_name} == "a.example"`), proxy), all(guard, proxy)}, "choice"},
		"the version of TLS":              {[]string{at(expression(`{http.request.tls.version} == "tls1.3"`), guard, proxy), all(proxy)}, "choice"},
		"a certificate":                   {[]string{at(expression(`{http.request.tls.client.subject} == "CN=a"`), proxy), all(guard, proxy)}, ""},
		"a variable of the address":       {[]string{at(`"vars":{"{http.request.remote.host}":["10.0.0.1"]}`, proxy), all(guard, proxy)}, ""},
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
		"an expression of the host":       {[]string{at(expression(`{http.request.host}.startsWith("api") && !remote_ip("10.0.0.0/8")`), guard, proxy), all(proxy)}, "choice"},
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

// A host is as good as a site of its own, and errors and responses may lead to an API as well.
func TestDoctorFindsWaysToGuardedAPIsByHostAndResponse(t *testing.T) {
	const (
		guard   = `{"handler":"gatehouse_guard","rules":[{"public":true,"methods":["*"],"paths":["/*"]}]}`
		proxy   = `{"handler":"reverse_proxy","upstreams":[{"dial":"10.0.0.1:80"}]}`
		other   = `{"handler":"reverse_proxy","upstreams":[{"dial":"10.0.0.2:80"}]}`
		basic   = `{"handler":"authentication","providers":{"http_basic":{}}}`
		page    = `{"handler":"rewrite","uri":"/{http.error.status_code}.html"}`
		rewrite = `{"handler":"rewrite","uri":"/errors{http.request.uri}"}`
		whole   = `{"handle":[` + guard + `,` + proxy + `]}`
	)
	host := func(host, handlers string) string {
		return fmt.Sprintf(`{"group":"g","match":[{"host":[%q]}],"handle":[{"handler":"subroute","routes":[{"handle":[%s]}]}]}`, host, handlers)
	}
	rest := func(handlers string) string {
		return `{"group":"g","handle":[{"handler":"subroute","routes":[{"handle":[` + handlers + `]}]}]}`
	}
	response := func(match, handlers string) string {
		return `{"handler":"reverse_proxy","upstreams":[{"dial":"10.0.0.2:80"}],"handle_response":[{` + match + `"routes":[{"handle":[` + handlers + `]}]}]}`
	}
	intercept := func(handlers string) string {
		return `{"handler":"intercept","handle_response":[{"routes":[{"handle":[` + handlers + `]}]}]}`
	}
	status := func(codes, handlers string) string {
		return fmt.Sprintf(`{"match":[{"expression":"{http.error.status_code} in [%s]"}],"handle":[%s]}`, codes, handlers)
	}
	for name, c := range map[string]struct{ routes, errors, want string }{
		"a host beside":                 {host("a.example.com", proxy) + "," + rest(guard+","+proxy), "", "the site a.example.com :443 passes"},
		"a host with the guard":         {host("a.example.com", guard+","+proxy) + "," + rest(proxy), "", "example.com :443 passes"},
		"another API":                   {host("a.example.com", guard+","+proxy) + "," + rest(other), "", ""},
		"a guard for both":              {`{"handle":[` + guard + `]},` + host("a.example.com", proxy) + "," + rest(proxy), "", ""},
		"a guard in each":               {host("a.example.com", guard+","+proxy) + "," + rest(guard+","+proxy), "", ""},
		"a guard in front of a host":    {`{"match":[{"host":["a.example.com"]}],"handle":[` + guard + `]},` + host("a.example.com", proxy) + "," + rest(other), "", ""},
		"a guard for one of two":        {`{"match":[{"host":["a.example.com"]}],"handle":[` + guard + `]},` + rest(proxy), "", "example.com :443 passes"},
		"all hosts but one":             {`{"match":[{"not":[{"host":["a.example.com"]}]}],"handle":[` + guard + `]},` + rest(proxy), "", "the site a.example.com :443 passes"},
		"a password at the host":        {host("a.example.com", basic+","+proxy) + "," + rest(guard+","+proxy), "", ""},
		"a password at another host":    {host("a.example.com", basic+","+other) + "," + host("b.example.com", proxy) + "," + rest(guard+","+proxy), "", "the site b.example.com :443 passes"},
		"addresses at the host":         {strings.Replace(host("a.example.com", proxy), `"match":[{`, `"match":[{"remote_ip":{"ranges":["10.0.0.0/8"]},`, 1) + "," + rest(guard+","+proxy), "", ""},
		"errors":                        {whole, `{"handle":[` + proxy + `]}`, "`handle_errors` of the site"},
		"errors elsewhere":              {whole, `{"handle":[` + other + `]}`, ""},
		"errors to a page":              {whole, `{"handle":[` + page + `]},{"handle":[` + proxy + `]}`, ""},
		"errors to a page below":        {whole, `{"handle":[` + rewrite + `]},{"handle":[` + proxy + `]}`, "`handle_errors` of the site"},
		"errors to a page, some":        {whole, `{"match":[{"path":["/x"]}],"handle":[` + page + `]},{"handle":[` + proxy + `]}`, "`handle_errors` of the site"},
		"errors behind a guard":         {whole, `{"handle":[` + guard + `,` + proxy + `]}`, ""},
		"errors of the proxy":           {whole, status("502, 504", proxy), ""},
		"errors of the guard":           {whole, status("401", proxy), "`handle_errors` of the site"},
		"errors of a subroute":          {`{"handle":[{"handler":"subroute","routes":[` + whole + `],"errors":{"routes":[{"handle":[` + proxy + `]}]}}]}`, "", "`handle_errors` of the site"},
		"a response":                    {host("a.example.com", response("", proxy)) + "," + rest(guard+","+proxy), "", "`handle_response` of the site a.example.com"},
		"a response that is missing":    {host("a.example.com", response(`"match":{"status_code":[404]},`, proxy)) + "," + rest(guard+","+proxy), "", "`handle_response` of the site"},
		"a response that allows":        {host("a.example.com", response(`"match":{"status_code":[2]},`, proxy)) + "," + rest(guard+","+proxy), "", ""},
		"a response that names a place": {host("a.example.com", response(`"match":{"headers":{"X-Accel-Redirect":["*"]}},`, proxy)) + "," + rest(guard+","+proxy), "", ""},
		"a response of what is guarded": {`{"handle":[` + guard + `,` + response("", proxy) + `]},` + whole, "", ""},
		"a refusal that is replaced":    {`{"handle":[` + intercept(proxy) + `]},` + whole, "", "`handle_response` of the site"},
		"a response that is replaced":   {`{"handle":[` + guard + `,` + intercept(proxy) + `,` + proxy + `]}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, site := range []string{`{"match":[{"host":["*.example.com"]}],"terminal":true,"handle":[{"handler":"subroute","routes":[%s]}]}`, `%s`} {
				text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],"routes":[%s],"errors":{"routes":[%s]}}}}}}`, fmt.Sprintf(site, c.routes), c.errors)
				found, err := Configuration([]byte(text), adminapi.Examination{Issuer: "https://id.example"})
				if err != nil {
					t.Fatal(err, text)
				}
				got := ""
				for _, f := range found {
					if strings.Contains(f.Message, "in front of the same API") || strings.Contains(f.Message, "a matcher of the site") {
						got += f.Message
					}
				}
				if want := strings.TrimPrefix(c.want, "example.com"); (got != "") != (c.want != "") || !strings.Contains(got, want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
		})
	}
}

func TestUnverifiedCertificatesAreAChoice(t *testing.T) {
	for policies, want := range map[string]bool{
		`[]`:   false,
		`[{}]`: false,
		`[{"client_authentication":{"mode":"request"}}]`:                                                         true,
		`[{},{"client_authentication":{"mode":"require"}}]`:                                                      true,
		`[{"client_authentication":{"mode":"require","verifiers":[{"verifier":"leaf"}]}}]`:                       false,
		`[{"client_authentication":{"ca":{"provider":"file","pem_files":["ca.pem"]}}}]`:                          false,
		`[{"client_authentication":{"ca":{"provider":"file","pem_files":["ca.pem"]},"mode":"request"}}]`:         true,
		`[{"client_authentication":{"ca":{"provider":"file","pem_files":["ca.pem"]},"mode":"verify_if_given"}}]`: false,
	} {
		var s explain.Server
		if err := json.Unmarshal([]byte(`{"tls_connection_policies":`+policies+`}`), &s); err != nil {
			t.Fatal(err)
		}
		sets := matcherSets{{"expression": json.RawMessage(`"{http.request.tls.client.subject} == 'CN=a'"`)}}
		if got := choicesOf(s)(sets); got != want {
			t.Errorf("%s: %t", policies, got)
		}
	}
}
