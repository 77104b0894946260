package caddyfile_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// The process panics at its start if two plugins register a module of the same name. Each of Gatehouse's therefore
// has `gatehouse` in its own, except the matcher: Caddy takes what a Caddyfile calls a matcher for its name.
func TestModuleIDsCannotCollide(t *testing.T) {
	outside := 0
	for _, id := range caddy.Modules() {
		if !ours(t, id) || id == "gatehouse" || strings.HasPrefix(id, "gatehouse.") {
			continue
		}
		outside++
		name := caddy.ModuleID(id).Name()
		if id != "http.matchers.oauth_scope" && name != "gatehouse" && !strings.HasPrefix(name, "gatehouse_") {
			t.Errorf("another plugin may register %s too", id)
		}
	}
	if outside < 10 {
		t.Errorf("%d modules outside the app", outside)
	}
}

// Caddy asks modules that a word of a Caddyfile names for their UnmarshalCaddyfile: matchers, and guests of an app. Handlers
// and the provider are made by directives, and the transport by api_rest.
func TestModulesNamedInCaddyfilesUnmarshalThem(t *testing.T) {
	found := 0
	for _, namespace := range []string{"http.matchers", "gatehouse.stores", "gatehouse.limiters", "gatehouse.directories"} {
		for _, m := range caddy.GetModules(namespace) {
			if !ours(t, string(m.ID)) {
				continue
			}
			found++
			if _, ok := m.New().(caddyfile.Unmarshaler); !ok {
				t.Errorf("%s does not implement caddyfile.Unmarshaler", m.ID)
			}
		}
	}
	if found != 10 {
		t.Errorf("%d modules", found)
	}
}

// Each of these means the same wherever Caddy lets directives and matchers stand.
func TestDirectivesAndMatchersNest(t *testing.T) {
	const global = "{\ngatehouse {\nissuer https://id.example.com\nscope read Read\nscope write Write\n}\n}\n"
	for _, directive := range []string{"gatehouse_health {\nready /healthz\n}", "oauth_authentication {\nscopes read\n}"} {
		for _, around := range []string{
			"$", "handle {\n$\n}", "handle /a/* {\n$\n}", "handle_path /a/* {\n$\n}", "route {\n$\n}", "route /a/* {\nhandle {\n$\n}\n}", "handle_errors {\n$\n}",
			"@in remote_ip private_ranges\nhandle @in {\n$\n}",
		} {
			config := adapt(t, global+"api.example.com {\n"+strings.Replace(around, "$", directive, 1)+"\n}")
			if !strings.Contains(config, `"ready": "/healthz"`) && !strings.Contains(config, `"gatehouse": {`+"\n") {
				t.Errorf("%s in %s: %s", directive, around, config)
			}
		}
		config := adapt(t, global+"&(shared) {\n"+directive+"\n}\napi.example.com {\ninvoke shared\n}")
		if !strings.Contains(config, `"named_routes"`) {
			t.Errorf("%s in a named route: %s", directive, config)
		}
	}
	for _, matcher := range []string{
		"@m oauth_scope read write", "@m not oauth_scope read write", "@m {\npath /a/*\noauth_scope read write\n}", "@m {\nnot oauth_scope read write\nmethod GET\n}",
		"@m {\nnot {\npath /a/*\noauth_scope read write\n}\n}", "@m {\noauth_scope read\noauth_scope write\n}",
	} {
		for _, use := range []string{"respond @m ok", "handle @m {\nrespond ok\n}", "route @m {\nrespond ok\n}", "oauth_authentication @m", "gatehouse_health @m"} {
			config := adapt(t, global+"api.example.com {\n"+matcher+"\n"+use+"\n}")
			if !regexp.MustCompile(`"oauth_scope": \{\s*"scopes": \[\s*"read",\s*"write"\s*\]`).MatchString(config) {
				t.Errorf("%s with %s: %s", matcher, use, config)
			}
		}
	}
}
