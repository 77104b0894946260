package stockclients

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// apacheServer is what every Apache here needs; $SITE is a test's own.
const apacheServer = `ServerRoot $DIR
ServerName localhost
DefaultRuntimeDir $DIR
Listen 127.0.0.1:$PORT
PidFile $DIR/apache.pid
Mutex file:$DIR default
$USER
LoadModule mpm_event_module $MODULES/mod_mpm_event.so
LoadModule authn_core_module $MODULES/mod_authn_core.so
LoadModule authz_core_module $MODULES/mod_authz_core.so
LoadModule authz_user_module $MODULES/mod_authz_user.so
LoadModule setenvif_module $MODULES/mod_setenvif.so
LoadModule headers_module $MODULES/mod_headers.so
LoadModule lua_module $MODULES/mod_lua.so
LoadModule proxy_module $MODULES/mod_proxy.so
LoadModule proxy_http_module $MODULES/mod_proxy_http.so
LoadModule auth_openidc_module $MODULES/mod_auth_openidc.so
DocumentRoot $DIR/www
ErrorLog $DIR/error.log
LogLevel auth_openidc:debug
$SITE`

// apacheConfig protects /protected/ with OpenID Connect and shows what it learnt about
// the user in response headers.
const apacheConfig = `OIDCProviderMetadataURL $ISSUER/.well-known/openid-configuration
OIDCClientID apache
OIDCClientSecret apache-secret-0123456789-0123456789-01234567
OIDCRedirectURI http://localhost:$PORT/protected/callback
OIDCCryptoPassphrase a-passphrase-of-this-test-alone
OIDCScope "openid profile email"
OIDCPKCEMethod S256
OIDCPassClaimsAs environment
OIDCRemoteUserClaim preferred_username
<Location /protected/>
	AuthType openid-connect
	Require valid-user
	Header always set X-User "%{OIDC_CLAIM_preferred_username}e"
	Header always set X-Subject "%{OIDC_CLAIM_sub}e"
	Header always set X-Email "%{OIDC_CLAIM_email}e"
	Header always set X-Issuer "%{OIDC_CLAIM_iss}e"
</Location>
`

const apacheModules = "/usr/lib/apache2/modules"

const apacheClient = `client apache {
			name "Apache"
			secret apache-secret-0123456789-0123456789-01234567
			redirect_uri http://localhost:$APACHE/protected/callback
			post_logout_redirect_uri http://localhost:$APACHE/bye.html
			scopes openid profile email
		}`

// A certified relying party of Debian's signs a user in, reads id_token and userinfo,
// and signs the user out again at both ends.
func TestApacheRelyingPartySignsAUserInAndOut(t *testing.T) {
	port := harness.FreePorts(t, 1)[0]
	g := begin(t, apacheClient, "$APACHE", fmt.Sprint(port))
	base := fmt.Sprintf("http://localhost:%d", port)
	a := startApache(t, port, strings.ReplaceAll(apacheConfig, "$ISSUER", g.ID))
	b := harness.NewBrowser(t, g.ID)

	asked := visit(t, b, base+"/protected/index.html")
	request := asked.Location(t)
	q := request.Query()
	if !strings.HasPrefix(request.String(), g.ID+"/authorize?") || q.Get("nonce") == "" || q.Get("code_challenge_method") != "S256" {
		t.Fatalf("it asks with %s", request)
	}
	back := b.Authorize(request.String(), username, password)
	if !strings.HasPrefix(back.String(), base+"/protected/callback?") {
		t.Fatalf("the browser comes back to %s", back)
	}
	in := b.Get(back.String())
	if in.Status != http.StatusFound || in.Header.Get("Location") != base+"/protected/index.html" {
		t.Fatalf("it does not take the answer: %d %s\n%s", in.Status, in.Body, a.log())
	}
	page := visit(t, b, base+"/protected/index.html")
	for name, want := range map[string]string{
		"X-User": username, "X-Subject": "u-1", "X-Email": "alice@example.com", "X-Issuer": g.ID,
	} {
		if got := page.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if page.Status != http.StatusOK || !strings.Contains(page.Body, "inside") {
		t.Fatalf("%d %s\n%s", page.Status, page.Body, a.log())
	}

	// Sign-out: Apache ends its own session and sends the browser to ours, with the
	// id_token as hint, and from there back.
	out := b.Get(base + "/protected/callback?logout=" + url.QueryEscape(base+"/bye.html"))
	end := out.Location(t)
	if !strings.HasPrefix(end.String(), g.ID+"/logout?") || end.Query().Get("id_token_hint") == "" {
		t.Fatalf("it signs out with %s", end)
	}
	gone := b.Get(end.String())
	if got := gone.Header.Get("Location"); got != base+"/bye.html" {
		t.Fatalf("%d to %q: %.300s", gone.Status, got, gone.Body)
	}
	again := b.Get(visit(t, b, base+"/protected/index.html").Header.Get("Location"))
	if again.Status != http.StatusOK || !strings.Contains(again.Body, `name="password"`) {
		t.Errorf("the user is still signed in: %d %.300s", again.Status, again.Body)
	}
}

// A user who says no comes back to Apache as one who was refused.
func TestApacheLearnsThatTheUserRefused(t *testing.T) {
	port := harness.FreePorts(t, 1)[0]
	g := begin(t, apacheClient, "$APACHE", fmt.Sprint(port))
	startApache(t, port, strings.ReplaceAll(apacheConfig, "$ISSUER", g.ID))
	b := harness.NewBrowser(t, g.ID)
	p := b.Get(visit(t, b, fmt.Sprintf("http://localhost:%d/protected/index.html", port)).Header.Get("Location"))
	p = b.Submit(p, url.Values{"username": {username}, "password": {password}})
	p = b.Submit(p, url.Values{"decision": {"deny"}})
	back := p.Location(t)
	if back.Query().Get("error") != "access_denied" {
		t.Fatalf("the browser comes back to %s", back)
	}
	if refused := b.Get(back.String()); refused.Status == http.StatusOK && strings.Contains(refused.Body, "inside") {
		t.Error("the refused user is inside")
	}
}

// visit opens a page as browsers do, saying that they want one: Apache sends only such
// requests to sign in.
func visit(t *testing.T, b *harness.Browser, address string) harness.Page {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	return harness.Do(t, b.Client, r)
}

type apache struct {
	dir string
	out harness.Output
}

func (a *apache) log() string {
	b, _ := os.ReadFile(filepath.Join(a.dir, "error.log"))
	return a.out.String() + string(b)
}

// startApache starts one whose configuration ends with site, and waits until it listens.
func startApache(t *testing.T, port int, site string) *apache {
	t.Helper()
	program, err := exec.LookPath("apache2")
	if err != nil {
		program = "/usr/sbin/apache2"
	}
	if _, err := os.Stat(filepath.Join(apacheModules, "mod_auth_openidc.so")); err != nil {
		t.Fatal("Apache with mod_auth_openidc is not installed: run ./xcaddy.sh test in the top folder, which does that first: ", err)
	}
	// Not t.TempDir: Apache's workers are another user when this runs as root, and must
	// be able to walk in.
	dir, err := os.MkdirTemp("", "apache")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "www", "protected"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("www/protected/index.html", "inside")
	write("www/bye.html", "bye")
	write("plain-names.lua", recipe(t, resourceServer, "lua"))
	as := ""
	if me, err := user.Current(); err == nil && me.Uid == "0" {
		as = "User www-data\nGroup www-data"
		if err := exec.Command("chown", "-R", "www-data", dir).Run(); err != nil {
			t.Fatal(err)
		}
	}
	write("apache.conf", strings.NewReplacer("$DIR", dir, "$PORT", fmt.Sprint(port), "$USER", as,
		"$MODULES", apacheModules).Replace(strings.Replace(apacheServer, "$SITE", site, 1)))
	a := &apache{dir: dir}
	cmd := exec.Command(program, "-f", filepath.Join(dir, "apache.conf"), "-DFOREGROUND")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &a.out, &a.out, 5*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
		}
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			return a
		}
		select {
		case err := <-done:
			t.Fatalf("apache ended: %v\n%s", err, a.log())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("apache does not answer: %v\n%s", err, a.log())
		}
	}
}
