package stockclients

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const appSecret = "app-secret-0123456789-0123456789-0123456789"

const (
	clientsPage  = "deploy/clients.md"
	variantBPage = "module/oauth/variant-b.md"
)

func wantDone(t *testing.T, out string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(out, "done "+part+"\n") {
			t.Errorf("not done: %s\n%s", part, out)
		}
	}
}

// S18, S19: Auth.js sends no state by default and shows the name that the id_token has.
func TestAuthJSAndSimpleOAuth2SignIn(t *testing.T) {
	const home = "https://app.example"
	t.Setenv("APP_SECRET", appSecret)
	g := begin(t, harness.PageLines(t, clientsPage, "Auth.js", "caddyfile", 1)+`
		client strict {
			secret {env.APP_SECRET}
			redirect_uri https://app.example/auth/callback/gatehouse
			scopes openid profile email
		}
		client web {
			secret {env.APP_SECRET}
			redirect_uri https://app.example/callback
			grants authorization_code refresh_token client_credentials
			scopes openid read
		}`)
	provider := strings.ReplaceAll(harness.PageLines(t, clientsPage, "Auth.js", "js", 1), "https://id.example.com", g.ID)
	out := harness.Node(t, 2*time.Minute, "authjs.js", []string{"ISSUER=" + g.ID, "SITE=" + home, "APP_SECRET=" + appSecret, "PROVIDER=" + provider},
		func(address string) string {
			return harness.NewBrowser(t, g.ID).Authorize(address, username, password).String()
		})
	wantDone(t, out, "Auth.js", "simple-oauth2")
}

// S17, S18, S19, S20, S22: clients of an MCP server find the authorization server from a 401, whatever
// their spelling of the resource.
func TestMCPClientsDiscoverTheServerAndCall(t *testing.T) {
	t.Setenv("REGISTRATION_TOKEN", initialToken)
	ports := harness.FreePorts(t, 2)
	g := harness.Prepare(t)
	g.WriteFile(t, "users.json", users)
	site := harness.PageLines(t, clientsPage, "MCP", "caddyfile", 1)
	for _, change := range [][2]string{
		{"{\n\tgatehouse {", "{\n" + harness.Quiet + "\n\tgatehouse {\n\t\tusers file $DIR/users.json"},
		{"https://id.example.com", "http://$ID"}, {"https://mcp.example.com", "http://$API"}, {"\nid.example.com", "\nhttp://$ID"}, {"\nmcp.example.com", "\nhttp://$API"},
		{"localhost:8000", fmt.Sprintf("127.0.0.1:%d", ports[0])},
	} {
		if !strings.Contains(site, change[0]) {
			t.Fatalf("%q is not in\n%s", change[0], site)
		}
		site = strings.ReplaceAll(site, change[0], change[1])
	}
	g.Start(t, site)
	out := harness.Node(t, 2*time.Minute, "mcp.js", []string{
		"API=" + g.API, fmt.Sprint("SERVER_PORT=", ports[0]), fmt.Sprint("CALLBACK_PORT=", ports[1]), "INITIAL_TOKEN=" + initialToken, "CONFIG=" + g.Dir,
	}, func(address string) string {
		return harness.NewBrowser(t, g.ID).Authorize(address, username, password).String()
	})
	wantDone(t, out, "SDK", "mcp-remote")
}

// S01: python-social-auth gets the text it repairs, where it says who it is or is configured to, and
// everybody else JSON.
func TestPythonLibrariesSignIn(t *testing.T) {
	const client = `
		client NAME {
			secret {env.APP_SECRET}
			variant_b
			redirect_uri http://127.0.0.1:1/complete/weixin/
			scopes snsapi_login snsapi_userinfo
			MORE
		}`
	t.Setenv("APP_SECRET", appSecret)
	g := &weixin{Gateway: harness.Prepare(t)}
	g.WriteFile(t, "users.json", strings.Replace(users, `"nickname":"Al"`, `"nickname":"张三 é"`, 1))
	g.Start(t, strings.Replace(site, "$CLIENTS", strings.NewReplacer("NAME", "portal", "MORE", "").Replace(client)+
		strings.NewReplacer("NAME", "unnamed", "MORE", "userinfo_content_type text").Replace(client)+`
		client web {
			secret {env.APP_SECRET}
			redirect_uri http://127.0.0.1:1/callback
			grants authorization_code refresh_token client_credentials
			scopes openid profile read
		}`, 1))
	class := strings.ReplaceAll(harness.PageLines(t, variantBPage, "Stock libraries", "python", 1), "https://id.example.com", g.ID)
	out := harness.Python(t, 2*time.Minute, "social.py", []string{"ISSUER=" + g.ID, "SITE=http://127.0.0.1:1", "SECRET=" + appSecret, "PAGE=" + class}, func(address string) string {
		if strings.Contains(address, "/connect/qrconnect?") {
			return g.scan(t, address, "confirm").String()
		}
		return harness.NewBrowser(t, g.ID).Authorize(address, username, password).String()
	})
	wantDone(t, out, "python-social-auth", "requests-oauthlib")
}
