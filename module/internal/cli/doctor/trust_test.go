package doctor

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

func TestProxiesAreTrustedByListener(t *testing.T) {
	const (
		socket = `"unix//run/a.sock"`
		tcp    = `":8080"`
		server = `{"handler": "gatehouse_server"}`
		byIP   = `{"handler": "gatehouse_limit", "policies": [{"by": "ip"}]}`
		byUser = `{"handler": "gatehouse_limit", "policies": [{"by": "user"}]}`
		static = `"trusted_proxies": {"source": "static"}, "trusted_proxies_strict": 1`
		unix   = `"trusted_proxies_unix": true, "trusted_proxies_strict": 1`
	)
	for name, c := range map[string]struct {
		listen, options, handler string
		refused, warned          bool
	}{
		"a proxy at a socket":                       {socket, unix, server, false, false},
		"trusted_proxies at a socket":               {socket, static, server, true, true},
		"trusted_proxies at an address":             {tcp, static, server, false, false},
		"trusted_proxies_unix at an address":        {tcp, unix, server, true, false},
		"an address besides the socket":             {tcp + "," + socket, static, server, false, true},
		"a guard at a socket":                       {socket, static, `{"handler": "gatehouse_guard"}`, false, true},
		"a guard at a socket with PROXY protocol":   {socket, static + `, "listener_wrappers": [{"wrapper": "proxy_protocol"}]`, `{"handler": "gatehouse_guard"}`, false, false},
		"a guard at a socket with other wrappers":   {socket, static + `, "listener_wrappers": [{"wrapper": "http_redirect"}, {"wrapper": "tls"}]`, `{"handler": "gatehouse_guard"}`, false, true},
		"jobs at a socket":                          {socket, static, `{"handler": "gatehouse_rest", "jobs": [{"path": "/imports"}]}`, false, true},
		"an api_rest without jobs at a socket":      {socket, static, `{"handler": "gatehouse_rest"}`, false, false},
		"a limit by address at a socket":            {socket, static, byIP, false, true},
		"a limit by address, and a proxy there":     {socket, unix, byIP, false, false},
		"a limit that needs no address at a socket": {socket, static, byUser, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"apps": {"http": {"servers": {"s": {"listen": [` + c.listen + `], ` + c.options +
				`, "automatic_https": {"disable": true}, "routes": [{"handle": [` + c.handler + `]}]}}}}}`
			read, err := explain.ReadAny([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			p := configuration{*read, &url.URL{Scheme: "https", Host: "id.example"}, false}
			refused, warned := false, false
			for _, f := range append(p.sites(), p.proxies()...) {
				refused = refused || f.Check == "site" && f.Grade == "fail"
				warned = warned || f.Check == "proxies" && f.Grade == "warn" && strings.Contains(f.Remedy, "trusted_proxies_unix")
			}
			if refused != c.refused || warned != c.warned {
				t.Errorf("refused %v, warned %v: %+v %+v", refused, warned, p.sites(), p.proxies())
			}
		})
	}
}
