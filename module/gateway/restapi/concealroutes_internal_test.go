package restapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// What a handler or a matcher may read is in the request from the start: without it, requests
// would go elsewhere or lack the field.
func TestOnlyRoutesThatDoNotReadTheValueConceal(t *testing.T) { // R11
	const proxy = `{"handler":"reverse_proxy","upstreams":[{"dial":"a:1"}]}`
	in := func(handlers string) string { return `[{"handle":[` + handlers + `]}]` }
	matched := func(match string) string { return `[{"match":[` + match + `],"handle":[` + proxy + `]}]` }
	for routes, proxies := range map[string]int{
		in(proxy): 1,
		in(`{"handler":"subroute","routes":` + in(proxy) + `},{"handler":"headers"},` + proxy):                                             2,
		in(`{"handler":"reverse_proxy","transport":{"protocol":"http","tls":{}}}`):                                                         1,
		in(`{"handler":"reverse_proxy","transport":{"protocol":"fastcgi"},"handle_response":[{"match":{"status_code":[2]},"routes":[]}]}`): 1,
		in(`{"handler":"reverse_proxy","headers":{"request":{"set":{"Host":["a"]}}}}`):                                                     1,
		in(`{"handler":"reverse_proxy","headers":{"request":{"replace":{"X-Api-Key":[]}}}}`):                                               0,
		in(`{"handler":"reverse_proxy","headers":{"request":{"add":{"X-Api-Key":["a"]}}}}`):                                                0,
		in(`{"handler":"reverse_proxy","load_balancing":{"selection_policy":{"policy":"header","field":"X-Api-Key"}}}`):                    0,
		in(`{"handler":"reverse_proxy","load_balancing":{"retry_match":[{"header":{"X-Api-Key":["a"]}}]}}`):                                0,
		in(`{"handler":"reverse_proxy","handle_response":[{"match":{"headers":{"Set-Cookie":["*"]}}}]}`):                                   0,
		in(proxy + `,{"handler":"gatehouse_proxy","upstreams":["a:1"]}`):                                                                   1,
		in(proxy + `,{"handler":"php"}`):                          0,
		in(`{"handler":"invoke","name":"a"}`):                     0,
		matched(`{"path":["/a"],"not":[{"method":["GET"]}]}`):     1,
		matched(`{"path":["/a"]},{"header":{"X-Api-Key":["a"]}}`): 0,
		matched(`{"query":{"key":["a"]}}`):                        0,
		matched(`{"not":[{"expression":"true"}]}`):                0,
	} {
		var list caddyhttp.RouteList
		if err := json.Unmarshal([]byte(routes), &list); err != nil {
			t.Fatal(routes, err)
		}
		changed, ok := concealInRoutes(list)
		text, err := json.Marshal(changed)
		if n := strings.Count(string(text), `"protocol":"gatehouse_revealing"`); err != nil || n != proxies || ok != (proxies > 0) {
			t.Errorf("%s: %v, %d proxies, want %d: %s", routes, ok, n, proxies, text)
		}
	}
}
