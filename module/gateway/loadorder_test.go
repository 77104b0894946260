package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// Caddy loads apps in any order, so the HTTP server may be the first to ask for ours.
func TestInvalidOptionIsNotMistakenForItsAbsence(t *testing.T) {
	site := json.RawMessage(`{"servers":{"s":{"listen":["127.0.0.1:0"],"routes":[{"handle":[{"handler":"gatehouse_server"}]}]}}}`)
	for range 20 {
		err := caddy.Validate(&caddy.Config{AppsRaw: caddy.ModuleMap{"http": site, "gatehouse": json.RawMessage(`{"isuer":"x"}`)}})
		if err == nil || !strings.Contains(err.Error(), `unknown field "isuer"`) || strings.Contains(err.Error(), "needs the global option") {
			t.Fatalf("%v", err)
		}
	}
	err := caddy.Validate(&caddy.Config{AppsRaw: caddy.ModuleMap{"http": site}})
	if err == nil || !strings.Contains(err.Error(), "oauth_server needs the global option") {
		t.Errorf("%v", err)
	}
}
