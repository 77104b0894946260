package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S10: two sites with one issuer are an error, however deep oauth_server stands. Clients
// would find the issuer's metadata at an address that is not the issuer's.
func TestTwoSitesWithOneIssuerAreRefused(t *testing.T) {
	ports := harness.FreePorts(t, 2)
	second, third := fmt.Sprintf("http://localhost:%d", ports[0]), fmt.Sprintf("http://localhost:%d", ports[1])
	const alone = "http://$ID {\n\toauth_server\n}\n"
	global := site[:strings.Index(site, "http://$ID {")]
	g, _ := prepare(t)
	g.Start(t, site)
	inside := func(address, wrapper string) string {
		return address + " {\n\t" + wrapper + " {\n\t\toauth_server\n\t}\n\trespond hello\n}\n"
	}
	twoRoutes := `{"listen":["127.0.0.1:%d"],"automatic_https":{"disable":true},"routes":[
		{"match":[{"host":["id.example"]}],"handle":[{"handler":"gatehouse_server"}],"terminal":true},
		{"match":[{"host":["other.example"]}],"handle":[{"handler":"subroute","routes":[{"handle":[{"handler":"gatehouse_server"}]}]}],"terminal":true}]}`
	server := `{"listen":["127.0.0.1:%d"],"automatic_https":{"disable":true},"routes":[{%s"handle":[%s{"handler":"gatehouse_server"}]}]}`
	onJSON := func(servers string) func([]byte) []byte { return withServers(t, servers) }

	for name, c := range map[string]struct {
		caddyfile string
		change    func([]byte) []byte
		says      []string
	}{
		"handle on the second site": {site + inside(second, "handle"), nil, []string{"Caddyfile:", "one block"}},
		"route on the second site":  {site + inside(second, "route"), nil, []string{"Caddyfile:", "one block"}},
		"handle on both":            {global + inside("http://$ID", "handle") + inside(second, "handle"), nil, []string{"Caddyfile:"}},
		"route in handle":           {site + second + " {\n\thandle {\n\t\troute {\n\t\t\toauth_server\n\t\t}\n\t}\n}\n", nil, []string{"Caddyfile:"}},
		"one snippet imported by both": {global + "(id) {\n\thandle {\n\t\toauth_server\n\t}\n}\n" + "http://$ID {\n\timport id\n}\n" + second + " {\n\timport id\n}\n",
			nil, []string{"Caddyfile:", "import id"}},
		"a named route on the second site": {site + "&(n) {\n\toauth_server\n\trespond hello\n}\n" + second + " {\n\tinvoke n\n}\n", nil, []string{"Caddyfile:"}},
		"two hosts of one port":            {global + inside("http://$ID", "handle") + inside("http://other.example:$PORT", "handle"), nil, []string{"Caddyfile:"}},
		"one host of a wildcard":           {site + "http://*.example:$PORT {\n\t@id host id.example\n\thandle @id {\n\t\toauth_server\n\t}\n}\n", nil, []string{"Caddyfile:"}},
		"JSON, two routes":                 {site, onJSON(`"s":` + fmt.Sprintf(twoRoutes, ports[0])), []string{"server s", "id.example", "other.example"}},
		"JSON, two servers":                {site, onJSON(`"a":` + fmt.Sprintf(server, ports[0], "", "") + `,"b":` + fmt.Sprintf(server, ports[1], "", "")), []string{"server a", "server b", `"source"`}},
		"JSON, two servers of hosts":       {site, onJSON(`"a":` + fmt.Sprintf(server, ports[0], `"match":[{"host":["a.example"]}],`, "") + `,"b":` + fmt.Sprintf(server, ports[1], `"match":[{"host":["b.example"]}],`, "")), []string{"server a", "server b"}},
	} {
		t.Run("S10 "+name, func(t *testing.T) {
			g.ChangeConfigs(c.change)
			_, port, _ := strings.Cut(strings.TrimPrefix(g.ID, "http://"), ":")
			err := g.TryLoad(strings.ReplaceAll(c.caddyfile, "$PORT", port))
			if err == nil {
				t.Fatal("it was loaded")
			}
			for _, want := range append(c.says, "oauth_server", "two sites", "one issuer") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not said: %v", want, err)
				}
			}
		})
	}
	for name, c := range map[string]struct {
		caddyfile string
		change    func([]byte) []byte
	}{
		"the same again":                       {site, nil},
		"handle":                               {strings.Replace(site, alone, inside("http://$ID", "handle"), 1), nil},
		"one block with several addresses":     {strings.Replace(site, alone, "http://$ID, "+second+", "+third+" {\n\thandle {\n\t\toauth_server\n\t}\n}\n", 1), nil},
		"twice on one site":                    {strings.Replace(site, alone, "http://$ID, "+second+" {\n\thandle /token {\n\t\toauth_server\n\t}\n\thandle {\n\t\troute {\n\t\t\toauth_server\n\t\t}\n\t}\n}\n", 1), nil},
		"a matcher in front on another site":   {site + inside(second, "handle /.well-known/*"), nil},
		"a matcher further out":                {site + second + " {\n\troute /userinfo {\n\t\thandle {\n\t\t\toauth_server\n\t\t}\n\t}\n}\n", nil},
		"JSON, one source on two servers":      {site, onJSON(`"a":` + sourced(server, ports[0]) + `,"b":` + sourced(server, ports[1]))},
		"JSON, http and https of one host":     {site, onJSON(`"a":` + fmt.Sprintf(server, ports[0], `"match":[{"host":["a.example"]}],`, "") + `,"b":` + fmt.Sprintf(server, ports[1], `"match":[{"host":["A.example"]}],`, ""))},
		"JSON, several routes of one server":   {site, onJSON(`"a":` + strings.Replace(fmt.Sprintf(server, ports[0], "", ""), `"routes":[`, `"routes":[{"handle":[{"handler":"gatehouse_server"}]},`, 1))},
		"JSON, another server with some paths": {site, onJSON(`"a":` + fmt.Sprintf(server, ports[0], "", "") + `,"b":` + fmt.Sprintf(server, ports[1], `"match":[{"path":["/token"]}],`, ""))},
	} {
		t.Run("S10 not refused: "+name, func(t *testing.T) {
			g.ChangeConfigs(c.change)
			if err := g.TryLoad(c.caddyfile); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("S10 validate", func(t *testing.T) {
		for text, refused := range map[string]bool{site: false, site + inside(second, "handle"): true} {
			config, err := g.Adapt(text)
			if err != nil {
				t.Fatal(err)
			}
			var parsed caddy.Config
			if err := json.Unmarshal(config, &parsed); err != nil {
				t.Fatal(err)
			}
			if err := caddy.Validate(&parsed); (err != nil) != refused {
				t.Errorf("refused: %v, want %v", err, refused)
			}
		}
	})
}

// sourced is a server of hand-written JSON that says of which site its handler is.
func sourced(server string, port int) string {
	return strings.Replace(fmt.Sprintf(server, port, "", ""), `"handler":"gatehouse_server"`, `"handler":"gatehouse_server","source":"mine"`, 1)
}

// withServers replaces the servers of a configuration by others.
func withServers(t *testing.T, servers string) func([]byte) []byte {
	t.Helper()
	return func(config []byte) []byte {
		var all map[string]any
		if err := json.Unmarshal(config, &all); err != nil {
			t.Fatal(err)
		}
		apps, ok := all["apps"].(map[string]any)
		if !ok {
			t.Fatal("no apps")
		}
		apps["http"] = map[string]any{"servers": json.RawMessage("{" + servers + "}")}
		changed, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
}
