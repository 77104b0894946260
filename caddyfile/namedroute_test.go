package caddyfile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// A named route keeps all its directives, whatever holds the guard and whatever stands beside it.
func TestNamedRoutesLoseNothing(t *testing.T) {
	const before = "{\ngatehouse {\nissuer https://id.example.com\nscope read Read\n}\n}\n(guarding) {\noauth_guard {\nscope read * /a\n}\n}\n" +
		"(routed) {\nheader X y\nroute {\nimport guarding\n}\n}\n&(other) {\nimport guarding\n}\n"
	const (
		guard  = `"handler":"gatehouse_guard"`
		header = `"handler":"headers"`
		invoke = `"handler":"invoke","name":"other"`
	)
	for body, handlers := range map[string][]string{
		"GUARD":                          {guard},
		"header X y\nGUARD":              {guard, header},
		"route {\nheader X y\nGUARD\n}":  {guard, header},
		"header X y\nroute {\nGUARD\n}":  {guard, header},
		"header X y\nhandle {\nGUARD\n}": {guard, header},
		"root /srv\nhandle {\nGUARD\n}":  {guard, `"root":"/srv"`},
		"rewrite /x\nhandle {\nGUARD\n}": {guard, `"handler":"rewrite"`},
		"header X y\nhandle @post {\nrespond no 403\n}\nhandle {\nGUARD\n}\n@post method POST": {guard, header, `"status_code":403`},
		"header X y\nroute {\nhandle /a/* {\nroute {\nGUARD\n}\n}\n}":                          {guard, header},
		"import routed":              {guard, header},
		"handle {\nimport routed\n}": {guard, header},
		"header X y\nheader Z y\nencode\nroute {\napi_limit {\nip 3 1h\n}\n}":                                     {header, `"Z"`, `"handler":"encode"`, `"handler":"gatehouse_limit"`},
		"root /srv/www\nroute {\nGUARD\n}":                                                                        {guard, `"root":"/srv/www"`},
		"header X y\nroute * {\nGUARD\n}":                                                                         {guard, header},
		"header X y\nroute /* {\nGUARD\n}":                                                                        {guard, header},
		"header /x X y\nroute {\nGUARD\n}":                                                                        {guard, header},
		"rewrite /x\nroute {\nGUARD\n}":                                                                           {guard, `"handler":"rewrite"`},
		"@a path /a\nencode\nroute {\nrespond @a no 403\nGUARD\n}":                                                {guard, `"handler":"encode"`, `"status_code":403`},
		"@a path /a\nheader X y\nhandle @a {\nGUARD\n}":                                                           {guard, header},
		"header X y\nhandle_path /a/* {\nGUARD\n}":                                                                {guard, header},
		"header X y\nhandle /a {\nGUARD\n}\nhandle {\nrespond no 403\n}":                                          {guard, header, `"status_code":403`},
		"header X <<TXT\n{\n}\nTXT\nroute {\napi_errors\n}":                                                       {header, `"handler":"gatehouse_errors"`},
		"header X y\nroute {\ngatehouse_health {\nready /healthz\n}\n}":                                           {header, `"handler":"gatehouse_health"`},
		"header X y\nroute {\noauth_server\n}":                                                                    {header, `"handler":"gatehouse_server"`},
		"gatehouse_health {\nready /healthz\n}\noauth_server":                                                     {`"handler":"gatehouse_health"`, `"handler":"gatehouse_server"`},
		"oauth_server\nrespond hello":                                                                             {`"handler":"gatehouse_server"`, `"body":"hello"`},
		"header X y\nroute {\napi_proxy 127.0.0.1:9000\n}":                                                        {header, `"handler":"gatehouse_proxy"`},
		"header X y\nheader Z y\noauth_authentication {\nscopes read\n}\nencode":                                  {`"handler":"authentication"`, `"Z"`, `"handler":"encode"`},
		"uri strip_prefix /x\nroute {\nGUARD\n}\napi_limit {\nip 3 1h\n}":                                         {guard, `"handler":"rewrite"`, `"handler":"gatehouse_limit"`},
		"header X y\nreverse_proxy 127.0.0.1:9000 {\n@e status 500\nhandle_response @e {\nGUARD\n}\n}":            {guard, header},
		"header X y\nforward_auth 127.0.0.1:9000 {\nuri /\n@e status 500\nhandle_response @e {\nGUARD\n}\n}":      {guard, header},
		"header X y\nintercept {\n@e status 500\nhandle_response @e {\nGUARD\n}\n}":                               {guard, header},
		"header X y\nphp_fastcgi 127.0.0.1:9000 {\n@e status 500\nhandle_response @e {\nGUARD\n}\n}":              {guard, header},
		"header X y\ninvoke other":                                                                                {invoke, header},
		"header X y\nroute {\ninvoke other\n}":                                                                    {invoke, header},
		"encode\nhandle {\nroute {\ninvoke other\n}\n}":                                                           {invoke, `"handler":"encode"`},
		"handle {\nheader X y\ninvoke other\n}":                                                                   {invoke, header},
		"header X y\nreverse_proxy 127.0.0.1:9000 {\n@e status 500\nhandle_response @e {\ninvoke other\n}\n}":     {invoke, header},
		"header X y\ninvoke other\n@post method POST\nhandle @post {\nrespond no 403\n}\nhandle {\nrespond ok\n}": {invoke, header, `"status_code":403`, `"body":"ok"`},
	} {
		config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(before+"&(n) {\n"+strings.ReplaceAll(body, "GUARD", "import guarding")+
			"\n}\nhttp://localhost:8080 {\ninvoke n\nreverse_proxy 127.0.0.1:9000\n}\n"), nil)
		if err != nil {
			t.Fatal(body, err)
		}
		var site struct {
			Apps struct {
				HTTP struct {
					Servers map[string]struct {
						Named map[string]json.RawMessage `json:"named_routes"`
					} `json:"servers"`
				} `json:"http"`
			} `json:"apps"`
		}
		if err := json.Unmarshal(config, &site); err != nil {
			t.Fatal(err)
		}
		named := string(site.Apps.HTTP.Servers["srv0"].Named["n"])
		for _, handler := range handlers {
			if !strings.Contains(named, handler) {
				t.Errorf("%s\nhas no %s: %s", body, handler, named)
			}
		}
	}
}
