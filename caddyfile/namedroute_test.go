package caddyfile_test

import (
	"strings"
	"testing"
)

// Where Caddy would drop a directive of ours from a named route, the configuration is refused,
// and nowhere else.
func TestNamedRoutesLoseNothing(t *testing.T) {
	const before = "{\ngatehouse {\nissuer https://id.example.com\nscope read Read\n}\n}\n(guarding) {\noauth_guard {\nscope read * /a\n}\n}\n" +
		"(routed) {\nheader X y\nroute {\nimport guarding\n}\n}\n"
	adapted := func(body string) string {
		return adapt(t, before+"&(n) {\n"+strings.ReplaceAll(body, "GUARD", "import guarding")+
			"\n}\nhttp://localhost:8080 {\ninvoke n\nreverse_proxy 127.0.0.1:9000\n}\n")
	}
	for _, body := range []string{
		"header X y\nroute {\nGUARD\n}",
		"header X y\nhandle {\nGUARD\n}",
		"header X y\nroute {\nhandle /a/* {\nroute {\nGUARD\n}\n}\n}",
		"import routed",
		"header X y\nheader Z y\nencode\nroute {\napi_limit {\nip 3 1h\n}\n}",
		"root /srv/www\nroute {\nGUARD\n}",
		"header X y\nroute * {\nGUARD\n}",
		"@a path /a\nencode\nroute {\nrespond @a no 403\nGUARD\n}",
		"header X \"{\"\nroute {\napi_errors\n}",
		"header X <<TXT\n{\n}\nTXT\nroute {\napi_errors\n}",
		"header X y\nroute {\ngatehouse_health {\nready /healthz\n}\n}",
		"header X y\nroute {\noauth_server\n}",
		"header X y\nroute {\noauth_authentication {\nscopes read\n}\n}",
		"header X y\nroute {\napi_proxy 127.0.0.1:9000\n}",
		"header X y\nreverse_proxy 127.0.0.1:9000 {\n@e status 500\nhandle_response @e {\nGUARD\n}\n}",
	} {
		if got := adapted(body); !strings.Contains(got, "Caddy keeps only the first directive of the named route n") {
			t.Errorf("%s\nis not refused: %s", body, got)
		}
	}
	const guard = `"handler": "gatehouse_guard"`
	for body, handlers := range map[string][]string{
		"GUARD":                            {guard},
		"header X y\nGUARD":                {guard, `"handler": "headers"`},
		"route {\nheader X y\nGUARD\n}":    {guard, `"handler": "headers"`},
		"handle {\nimport routed\n}":       {guard, `"handler": "headers"`},
		"header X y\nroute /* {\nGUARD\n}": {guard, `"handler": "headers"`},
		"header /x X y\nroute {\nGUARD\n}": {guard, `"handler": "headers"`},
		"rewrite /x\nroute {\nGUARD\n}":    {guard, `"handler": "rewrite"`},
		"uri strip_prefix /x\nroute {\nGUARD\n}\napi_limit {\nip 3 1h\n}":        {guard, `"handler": "rewrite"`, `"handler": "gatehouse_limit"`},
		"@a path /a\nheader X y\nhandle @a {\nGUARD\n}":                          {guard, `"handler": "headers"`},
		"header X y\nhandle_path /a/* {\nGUARD\n}":                               {guard, `"handler": "headers"`},
		"header X y\nhandle /a {\nGUARD\n}\nhandle {\nrespond no 403\n}":         {guard, `"handler": "headers"`, `"status_code": 403`},
		"gatehouse_health {\nready /healthz\n}\noauth_server":                    {`"handler": "gatehouse_health"`, `"handler": "gatehouse_server"`},
		"oauth_server\nrespond hello":                                            {`"handler": "gatehouse_server"`, `"body": "hello"`},
		"header X y\nheader Z y\noauth_authentication {\nscopes read\n}\nencode": {`"handler": "authentication"`, `"Z"`, `"handler": "encode"`},
	} {
		got := adapted(body)
		for _, handler := range handlers {
			if !strings.Contains(got, handler) {
				t.Errorf("%s\nhas no %s: %s", body, handler, got)
			}
		}
	}
}
