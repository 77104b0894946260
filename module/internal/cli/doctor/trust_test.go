package doctor

import (
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

func TestProxiesAreTrustedByListener(t *testing.T) {
	const (
		socket = `"unix//run/a.sock"`
		tcp    = `":8080"`
		server = `{"handler": "gatehouse_server"}`
		static = `"trusted_proxies": {"source": "static"}, "trusted_proxies_strict": 1`
		unix   = `"trusted_proxies_unix": true, "trusted_proxies_strict": 1`
	)
	for name, c := range map[string]struct {
		listen, options, handler string
		refused                  bool
	}{
		"a proxy at a socket":                {socket, unix, server, false},
		"trusted_proxies at a socket":        {socket, static, server, true},
		"trusted_proxies at an address":      {tcp, static, server, false},
		"trusted_proxies_unix at an address": {tcp, unix, server, true},
		"an address besides the socket":      {tcp + "," + socket, static, server, false},
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"apps": {"http": {"servers": {"s": {"listen": [` + c.listen + `], ` + c.options +
				`, "automatic_https": {"disable": true}, "routes": [{"handle": [` + c.handler + `]}]}}}}}`
			read, err := explain.ReadAny([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			p := configuration{*read, &url.URL{Scheme: "https", Host: "id.example"}, false}
			refused := false
			for _, f := range p.sites() {
				refused = refused || f.Check == "site" && f.Grade == "fail"
			}
			if refused != c.refused {
				t.Errorf("refused %v: %+v", refused, p.sites())
			}
		})
	}
}
