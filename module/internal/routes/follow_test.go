package routes

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

const (
	server  = `{"handler":"gatehouse_server","source":"Caddyfile:7"}`
	guard   = `{"handler":"gatehouse_guard"}`
	limit   = `{"handler":"gatehouse_limit","source":"Caddyfile:9","policies":[{"name":"each","by":"client"},{"name":"all","by":"all"}]}`
	respond = `{"handler":"static_response"}`
)

func sub(routes ...string) string {
	return `{"handler":"subroute","routes":[` + strings.Join(routes, ",") + `]}`
}

func chain(handlers ...string) string { return `{"handle":[` + strings.Join(handlers, ",") + `]}` }

func matched(match, rest string) string {
	return strings.Replace(rest, "{", `{"match":[`+match+`],`, 1)
}

func follow(t *testing.T, named map[string]Route, routes ...string) Found {
	t.Helper()
	var list []Route
	if err := json.Unmarshal([]byte("["+strings.Join(routes, ",")+"]"), &list); err != nil {
		t.Fatal(err)
	}
	return Follow(list, named, func(path string) bool { return path == "/token" })
}

func TestLimitsInFrontOfTheirGuard(t *testing.T) { // S07
	const unguarded, misplaced = "unguarded each", "misplaced each"
	for name, c := range map[string]struct {
		routes []string
		want   string
	}{
		"behind":                         {[]string{chain(guard, limit)}, ""},
		"behind the provider":            {[]string{chain(`{"handler":"authentication","providers":{"gatehouse":{}}}`, limit)}, ""},
		"behind another provider":        {[]string{chain(`{"handler":"authentication","providers":{"http_basic":{}}}`, limit)}, unguarded},
		"in front":                       {[]string{chain(limit, guard)}, unguarded + " " + misplaced},
		"in front, in routes":            {[]string{chain(limit), chain(guard)}, unguarded + " " + misplaced},
		"in front, further in":           {[]string{chain(limit), chain(sub(chain(guard)))}, unguarded + " " + misplaced},
		"no guard":                       {[]string{chain(limit)}, unguarded},
		"another list":                   {[]string{chain(sub(chain(limit)), sub(chain(guard)))}, unguarded},
		"alternatives":                   {[]string{`{"group":"g","match":[{"path":["/a"]}],"handle":[` + limit + `]}`, `{"group":"g","handle":[` + guard + `]}`}, unguarded},
		"a guard for some in front":      {[]string{matched(`{"path":["/a"]}`, chain(guard)), chain(limit), chain(guard)}, ""},
		"a guard of another site":        {[]string{`{"match":[{"host":["a"]}],"terminal":true,"handle":[` + guard + `]}`, chain(limit, guard)}, unguarded + " " + misplaced},
		"a guard on the way":             {[]string{chain(guard), chain(sub(chain(limit, guard)))}, ""},
		"a named route with a guard":     {[]string{chain(`{"handler":"invoke","name":"front"}`, limit, guard)}, ""},
		"a named route behind":           {[]string{chain(limit, `{"handler":"invoke","name":"front"}`)}, unguarded + " " + misplaced},
		"named routes without an end":    {[]string{chain(limit, `{"handler":"invoke","name":"loop"}`)}, unguarded},
		"a handler with odd field types": {[]string{chain(`{"handler":"other","routes":7,"name":{}}`, limit, guard)}, unguarded + " " + misplaced},
	} {
		named := map[string]Route{
			"front": {Handle: []json.RawMessage{json.RawMessage(guard)}},
			"loop":  {Handle: []json.RawMessage{json.RawMessage(`{"handler":"invoke","name":"loop"}`)}},
		}
		found := follow(t, named, c.routes...)
		var got []string
		for _, l := range found.Unguarded {
			got = append(got, "unguarded "+l.Policy)
		}
		for _, l := range found.Misplaced {
			got = append(got, "misplaced "+l.Policy)
			if l.Source != "Caddyfile:9" {
				t.Errorf("%s: source %q", name, l.Source)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestIssuersThatCoverWholeHosts(t *testing.T) { // S10
	for name, c := range map[string]struct {
		routes []string
		want   string
	}{
		"any host":            {[]string{chain(server)}, "0 [] Caddyfile:7"},
		"some hosts":          {[]string{chain(limit), matched(`{"host":["B","a","b"]}`, chain(server))}, "1 [a b] Caddyfile:7"},
		"hosts further in":    {[]string{matched(`{"host":["*.example"]}`, chain(sub(matched(`{"host":["id.example"]}`, chain(server)))))}, "0 [id.example] Caddyfile:7"},
		"some paths":          {[]string{matched(`{"path":["/token"]}`, chain(server))}, ""},
		"paths of a host":     {[]string{matched(`{"host":["a"],"path":["/token"]}`, chain(server))}, ""},
		"paths further out":   {[]string{matched(`{"path":["/token"]}`, chain(sub(chain(server))))}, ""},
		"hosts or any":        {[]string{matched(`{"host":["a"]},{}`, chain(server))}, "0 [] Caddyfile:7"},
		"the next is for all": {[]string{matched(`{"path":["/x"]}`, chain(respond)), chain(server)}, "1 [] Caddyfile:7"},
		"twice":               {[]string{chain(server), chain(sub(chain(server)))}, "0 [] Caddyfile:7, 1 [] Caddyfile:7"},
	} {
		var got []string
		for _, i := range follow(t, nil, c.routes...).Issuers {
			got = append(got, fmt.Sprint(i.Route, i.Hosts, " ", i.Source))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestUnreachableHandlersAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		routes []string
		want   string
	}{
		"behind an answer":     {[]string{chain(respond, guard)}, "oauth_guard behind static_response"},
		"behind own paths":     {[]string{chain(server), matched(`{"path":["/token"]}`, chain(guard))}, "oauth_guard behind oauth_server, whose own paths these are"},
		"behind another path":  {[]string{chain(server), matched(`{"path":["/other"]}`, chain(guard))}, ""},
		"behind a matcher":     {[]string{matched(`{"path":["/a"]}`, chain(respond)), chain(guard)}, ""},
		"a proxy that may not": {[]string{chain(`{"handler":"reverse_proxy","handle_response":[{}]}`, guard)}, ""},
	} {
		if got := strings.Join(follow(t, nil, c.routes...).Unreachable, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Caddy drops the text of what it has loaded: what is found must be the same.
func TestLoadedRoutesMatchTheirText(t *testing.T) {
	text := `[` + matched(`{"host":["a.example"]}`, chain(sub(chain(`{"handler":"headers"}`), matched(`{"host":["b.example"]}`, chain(`{"handler":"invoke","name":"x"}`))))) + `]`
	var list caddyhttp.RouteList
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	before := FromLoaded(list)
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	if err := list.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	if len(list[0].HandlersRaw) != 0 {
		t.Fatal("Caddy keeps the text now, and FromLoaded lists handlers twice")
	}
	var names func(routes []Route) []string
	names = func(routes []Route) (all []string) {
		for _, rt := range routes {
			hosts, restricted := rt.Hosts()
			all = append(all, fmt.Sprint(hosts, restricted))
			for _, raw := range rt.Handle {
				h, ok := ReadHandler(raw)
				all = append(all, fmt.Sprint(ok, h.Handler, h.Name))
				all = append(all, names(h.Routes)...)
			}
		}
		return all
	}
	if got, want := names(FromLoaded(list)), names(before); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestGuardsWithNothingBehindThem(t *testing.T) { // S11
	const rest, proxy, headers = `{"handler":"gatehouse_rest"}`, `{"handler":"reverse_proxy"}`, `{"handler":"headers"}`
	for name, c := range map[string]struct {
		routes []string
		want   string
	}{
		"nobody":                   {[]string{chain(guard, headers)}, "[oauth_guard]"},
		"nobody behind api_rest":   {[]string{chain(guard, rest)}, "[api_rest]"},
		"a proxy in a later route": {[]string{chain(guard), chain(sub(chain(headers, proxy)))}, "[]"},
		"a proxy for some":         {[]string{chain(guard), matched(`{"path":["/a"]}`, chain(proxy))}, "[]"},
		"what may answer":          {[]string{chain(guard, `{"handler":"somebody_elses"}`)}, "[]"},
		"an api_rest with its own": {[]string{chain(guard, `{"handler":"gatehouse_rest","upstream":[{}]}`)}, "[]"},
		"another site's proxy":     {[]string{`{"match":[{"host":["a"]}],"terminal":true,"handle":[` + guard + `]}`, chain(guard, proxy)}, "[oauth_guard]"},
	} {
		if got := fmt.Sprint(follow(t, nil, c.routes...).Unserved); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
