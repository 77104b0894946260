package qrlogin

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	username = "maria"
	second   = "otto"
)

const caddyfile = `{
` + harness.Quiet + `
	skip_install_trust
	auto_https disable_redirects
	grace_period 5s
	gatehouse {
		issuer $ISSUER
		store bolt $DIR/state.db
		users file $DIR/users.json
		client portal {
			name Portal
			variant_b
			secret $SECRET
			redirect_uri $PORTAL/callback
			scopes snsapi_login snsapi_userinfo
			frame_origins $PORTAL
		}
		scope read "Read what you have watched"
		client tv {
			name Television
			public
			grants device_code
			scopes read
		}
	}
}
$ISSUER {
	tls internal
	oauth_server
}
`

// sites answer where the rig looks whether the program is ready.
const sites = "http://$ID, http://$API {\n\trespond 204\n}\n"

// stand is the gateway, which is https as a frame of another site needs it, and a portal.
type stand struct {
	*harness.Gateway
	portal *portal
}

// start runs the gateway in a process of its own, beside those of other tests.
func start(t *testing.T) *stand {
	t.Helper()
	t.Parallel()
	s := prepare(t)
	s.Run(t, caddyfile+sites)
	return s
}

func prepare(t *testing.T) *stand {
	t.Helper()
	s := &stand{portal: newPortal(t)}
	s.portal.issuer = fmt.Sprintf("https://id.test:%d", harness.FreePorts(t, 1)[0])
	s.Gateway = harness.Prepare(t, "$ISSUER", s.portal.issuer, "$PORTAL", s.portal.at("portal"), "$SECRET", portalSecret)
	s.WriteFile(t, "users.json", fmt.Sprintf(`{"users": [
		{"id": "u-1", "username": %q, "nickname": "u_maria", "password_hash": %q},
		{"id": "u-2", "username": %q, "nickname": "u_otto", "password_hash": %q}
	]}`, username, harness.PasswordHash, second, harness.PasswordHash))
	return s
}

// browse runs one scenario of .ci/node/scanning.js in Chromium; answer is what its lines
// "open" are answered with.
func (p *portal) browse(t *testing.T, scenario string, answer func(string) string, more ...string) {
	t.Helper()
	env := append([]string{
		"ISSUER=" + p.issuer, "PORTAL=" + p.at("portal"), "OTHER=" + p.at("other"),
		"USERNAME=" + username, "SECOND=" + second, "PASSWORD=" + harness.Password,
	}, more...)
	harness.Node(t, 10*time.Minute, "scanning.js "+scenario, env, answer)
}
