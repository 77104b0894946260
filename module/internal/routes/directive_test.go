package routes_test

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/gatehouse/gatehouse/module"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// Each handler of Gatehouse is called by the directive that makes it, and by no other.
func TestHandlersAreCalledByTheirDirectives(t *testing.T) {
	arguments := map[string]string{"api_limit": "{\nip 1 1m\n}", "api_rest": "{\nto legacy:80\nresource a\n}", "api_proxy": "legacy:80"}
	found := 0
	for _, m := range caddy.GetModules("http.handlers") {
		name := m.ID.Name()
		if !strings.HasPrefix(name, "gatehouse_") {
			if got := routes.Directive(name); got != name {
				t.Errorf("%s is called %s", name, got)
			}
			continue
		}
		found++
		word := routes.Directive(name)
		config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte("{\ngatehouse {\nissuer https://id.example\n}\n}\nid.example {\n"+word+" "+arguments[word]+"\n}"), nil)
		if err != nil || !strings.Contains(string(config), `"handler":"`+name+`"`) {
			t.Errorf("%s, called %s: %v %s", name, word, err, config)
		}
	}
	if found != 7 {
		t.Errorf("%d handlers", found)
	}
}
