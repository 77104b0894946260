package stockclients

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	webSecret    = "web-secret-0123456789-0123456789-0123456789"
	initialToken = "initial-token-0123456789-0123456789-012345"
	openidTo     = "https://client.example/cb"
	openidBye    = "https://client.example/bye"

	openidClients = `client web {
			secret ` + webSecret + `
			redirect_uri ` + openidTo + `
			post_logout_redirect_uri ` + openidBye + `
			scopes openid profile email read
		}
		client keyed {
			jwks $JWKS
			redirect_uri ` + openidTo + `
			scopes openid profile email read
		}
		registration {
			initial_token {env.INITIAL_TOKEN}
			scopes openid read
			max 10
		}
		` + deviceClient
)

func TestNodeOpenIDClientUsesEverything(t *testing.T) {
	t.Setenv("INITIAL_TOKEN", initialToken)
	key := harness.NewClientKey(t)
	named := strings.Replace(key.JWKS, `{"kty"`, `{"kid":"k1","use":"sig","alg":"ES256","kty"`, 1)
	g := begin(t, openidClients, "$JWKS", "`"+named+"`")
	b := harness.NewBrowser(t, g.ID)
	open := func(address string) string {
		if strings.HasPrefix(address, g.ID+"/device?") {
			answerDevice(t, g, address, "confirm")
			return g.ID + "/device"
		}
		if strings.HasPrefix(address, g.ID+"/logout?") {
			return b.Get(address).Header.Get("Location")
		}
		return b.Authorize(address, username, password).String()
	}
	out := harness.Node(t, time.Minute, "relying.js", []string{
		"ISSUER=" + g.ID, "WEB_SECRET=" + webSecret, "KEY_PKCS8=" + base64.StdEncoding.EncodeToString(key.PKCS8(t)),
		"INITIAL_TOKEN=" + initialToken, "CALLBACK=" + openidTo, "BYE=" + openidBye,
	}, open)
	for _, part := range []string{
		"id_token and userinfo", "refresh with id_token", "introspection and revocation",
		"pushed request with a secret", "private_key_jwt", "registration", "device", "sign-out",
	} {
		if !strings.Contains(out, "done "+part) {
			t.Errorf("not done: %s\n%s", part, out)
			break
		}
	}
}
