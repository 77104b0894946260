package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const nginxProgram = "/usr/sbin/nginx"

// nginxConfig serves the issuer and the API with the lines of the deploy page.
const nginxConfig = `daemon off;
master_process off;
pid $DIR/nginx.pid;
error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path $DIR/body;
	proxy_temp_path $DIR/proxy;
	fastcgi_temp_path $DIR/fastcgi;
	uwsgi_temp_path $DIR/uwsgi;
	scgi_temp_path $DIR/scgi;
	server {
		listen 127.0.0.1:$FRONT_ID;
		$ID_LINES
	}
	server {
		listen 127.0.0.1:$FRONT_API;
		$API_LINES
	}
}
`

// proxied is a gateway behind nginx.
type proxied struct {
	*harness.Gateway
	id, api string // nginx's addresses
}

// startBehindNginx starts the site with these words in `servers`, and nginx in front of it.
func startBehindNginx(t *testing.T, servers string) *proxied {
	t.Helper()
	ports := harness.FreePorts(t, 2)
	p := &proxied{id: fmt.Sprintf("http://localhost:%d", ports[0]), api: fmt.Sprintf("http://localhost:%d", ports[1])}
	changed := strings.NewReplacer(
		"admin $ADMIN", `admin $ADMIN
	servers {
		`+servers+`
	}
	log default {
		output file $DIR/gateway.log
		exclude gatehouse.audit
	}
	log audit {
		output file $DIR/audit.log
		include gatehouse.audit
	}`,
		"issuer http://$ID", "issuer "+p.id,
		"$GLOBAL", "protect {\n\t\t\tper_address 3\n\t\t}",
		"reverse_proxy $UPSTREAM", "api_limit {\n\t\tip 3 1m\n\t}\n\treverse_proxy $UPSTREAM",
	).Replace(site)
	p.Gateway = startSite(t, changed)
	startNginx(t, p, ports)
	return p
}

func startNginx(t *testing.T, p *proxied, ports []int) {
	t.Helper()
	if _, err := os.Stat(nginxProgram); err != nil {
		t.Fatal("nginx is not installed: run ./xcaddy.sh test in the top folder, which does that first: ", err)
	}
	lines := deployLines(t, "Behind a proxy", "nginx")
	to := func(site string) string {
		return strings.Replace(lines, "10.0.0.11:8080", "127.0.0.1:"+port(t, site), 1)
	}
	file := p.WriteFile(t, "nginx.conf", strings.NewReplacer("$DIR", p.Dir,
		"$FRONT_ID", fmt.Sprint(ports[0]), "$FRONT_API", fmt.Sprint(ports[1]),
		"$ID_LINES", to(p.ID), "$API_LINES", to(p.API)).Replace(nginxConfig))
	cmd := exec.Command(nginxProgram, "-e", "stderr", "-p", p.Dir, "-c", file)
	var out harness.Output
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[1]))
		if err == nil {
			_ = c.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("nginx ended: %v\n%s", err, &out)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("nginx does not answer: %v\n%s", err, &out)
		}
	}
}

// deployLines is the first block in this language of the deploy page's section.
func deployLines(t *testing.T, section, language string) string {
	t.Helper()
	return harness.PageLines(t, "deploy/README.md", section, language, 1)
}

// serversWords are what the deploy page writes into `servers`, with this proxy.
func serversWords(t *testing.T, proxy string) string {
	t.Helper()
	_, words, found := strings.Cut(deployLines(t, "Behind a proxy", "caddyfile"), "servers {")
	words, _, _ = strings.Cut(words, "}")
	if !found || !strings.Contains(words, "10.0.0.5 10.0.0.6") {
		t.Fatalf("the deploy page writes %q into servers", words)
	}
	return strings.Replace(words, "10.0.0.5 10.0.0.6", proxy, 1)
}

func port(t *testing.T, site string) string {
	t.Helper()
	u, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

// browserFrom is one whose connections come from a loopback address.
func browserFrom(t *testing.T, p *proxied, address string) *harness.Browser {
	t.Helper()
	b := harness.NewBrowser(t, p.id)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 10 * time.Second}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(to)
		if err != nil {
			return nil, err
		}
		return dialer.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}}
	t.Cleanup(transport.CloseIdleConnections)
	b.Client.Transport = transport
	return b
}

// apiStatuses requests the API with a forged address, another one each time.
func apiStatuses(t *testing.T, p *proxied, from string, n int) (statuses []int) {
	t.Helper()
	b := browserFrom(t, p, from)
	for i := range n {
		statuses = append(statuses, harness.Send(t, b.Client, http.MethodGet, p.api+"/public", "", "X-Forwarded-For", forged(i)).Status)
	}
	return statuses
}

// signInStatuses sends wrong passwords for names of nobody with a forged address, another
// one each time.
func signInStatuses(t *testing.T, p *proxied, from string, n int) (statuses []int) {
	t.Helper()
	b := browserFrom(t, p, from)
	q := url.Values{
		"client_id": {"web"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}
	action, fields := harness.Form(t, b.Get(p.id+"/authorize?"+q.Encode()))
	if !strings.HasPrefix(action, p.id+"/") {
		t.Fatalf("the form goes to %s", action)
	}
	for i := range n {
		fields.Set("username", fmt.Sprintf("guess-%s-%d", from, i))
		fields.Set("password", "wrong")
		statuses = append(statuses, harness.Send(t, b.Client, http.MethodPost, action, fields.Encode(),
			"Origin", p.id, "Sec-Fetch-Site", "same-origin", "X-Forwarded-For", forged(i)).Status)
	}
	return statuses
}

func forged(i int) string { return fmt.Sprintf("203.0.113.%d", i+1) }

// auditedAddresses are the addresses of failed sign-ins, once there are n.
func auditedAddresses(t *testing.T, p *proxied, n int) map[string]int {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		found, total := make(map[string]int), 0
		text, _ := os.ReadFile(filepath.Join(p.Dir, "audit.log"))
		for line := range strings.Lines(string(text)) {
			var e struct{ Event, IP string }
			if json.Unmarshal([]byte(line), &e) == nil && e.Event == "sign_in_failed" {
				found[e.IP]++
				total++
			}
		}
		if total >= n {
			return found
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d failed sign-ins in the audit trail, want %d:\n%s", total, n, text)
		}
	}
}

// forgeryWarnings are the servers whose clients can forge their address, as the log says.
func forgeryWarnings(t *testing.T, p *proxied) (listen []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Dir, "gateway.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Level, Logger, Msg string
			Listen             []string
		}
		if json.Unmarshal([]byte(line), &e) == nil && strings.Contains(e.Msg, "clients can forge their address") {
			if e.Level != "warn" || !strings.Contains(e.Msg, "trusted_proxies_strict") {
				t.Errorf("%+v", e)
			}
			listen = append(listen, e.Listen...)
		}
	}
	return listen
}

func count(statuses []int, status int) (n int) {
	for _, s := range statuses {
		if s == status {
			n++
		}
	}
	return n
}

// N03: nginx appends to X-Forwarded-For, so its leftmost address is the client's own claim.
func TestN03ClientsBehindNginxCannotForgeTheirAddress(t *testing.T) {
	const attacker, other = "127.0.0.2", "127.0.0.3"
	t.Run("N03 strict: the address that nginx saw counts", func(t *testing.T) {
		p := startBehindNginx(t, serversWords(t, "127.0.0.1/32"))
		if got := apiStatuses(t, p, attacker, 6); count(got, http.StatusOK) != 3 || count(got, http.StatusTooManyRequests) != 3 {
			t.Errorf("api_limit ip 3 answers six requests of one address with %v", got)
		}
		if got := apiStatuses(t, p, other, 3); count(got, http.StatusOK) != 3 {
			t.Errorf("another address is answered %v", got)
		}
		if got := signInStatuses(t, p, attacker, 5); count(got, http.StatusUnauthorized) != 3 || count(got, http.StatusTooManyRequests) != 2 {
			t.Errorf("per_address 3 answers five wrong passwords of one address with %v", got)
		}
		if got := signInStatuses(t, p, other, 1); count(got, http.StatusUnauthorized) != 1 {
			t.Errorf("another address is answered %v", got)
		}
		if got := auditedAddresses(t, p, 6); got[attacker] != 5 || got[other] != 1 {
			t.Errorf("the audit trail has %v", got)
		}
		if got := forgeryWarnings(t, p); len(got) != 0 {
			t.Errorf("warned about %v", got)
		}
		if _, all := examined(t, p.Gateway); has(all, "warn", "proxies", "") || !has(all, "ok", "proxies", "2 servers") {
			t.Errorf("%+v", all)
		}
	})
	t.Run("N03 not strict: the load warns and doctor finds it", func(t *testing.T) {
		p := startBehindNginx(t, "trusted_proxies static 127.0.0.1/32")
		// What the warning is about. Should Caddy change this, the warning has to go.
		if got := apiStatuses(t, p, attacker, 6); count(got, http.StatusOK) != 6 {
			t.Errorf("forged addresses are no longer believed: %v", got)
		}
		if got := signInStatuses(t, p, attacker, 5); count(got, http.StatusUnauthorized) != 5 {
			t.Errorf("forged addresses are no longer believed: %v", got)
		}
		if got := auditedAddresses(t, p, 5); got[forged(0)] != 1 || got[attacker] != 0 {
			t.Errorf("forged addresses are no longer believed: %v", got)
		}
		if got := strings.Join(forgeryWarnings(t, p), " "); strings.Count(got, ":") != 2 || !strings.Contains(got, port(t, p.ID)) || !strings.Contains(got, port(t, p.API)) {
			t.Errorf("want one warning for each of the two servers, got them for %q", got)
		}
		_, all := examined(t, p.Gateway)
		found := 0
		for _, f := range all {
			if f.Check == "proxies" && f.Grade == "warn" && strings.Contains(f.Message, "X-Forwarded-For") && strings.Contains(f.Remedy, "trusted_proxies_strict") {
				found++
			}
		}
		if found != 2 {
			t.Errorf("%+v", all)
		}
	})
}

// N03: no warning where there is nothing to forge.
func TestN03NoWarningWhereAddressesCannotBeForged(t *testing.T) {
	for name, c := range map[string]struct {
		servers string
		warned  bool
	}{
		"no trusted proxy":               {"protocols h1", false},
		"a header of one address":        {"trusted_proxies static 127.0.0.1/32\n\t\tclient_ip_headers CF-Connecting-IP", false},
		"a list behind that header":      {"trusted_proxies static 127.0.0.1/32\n\t\tclient_ip_headers X-Real-IP x-forwarded-for", true},
		"no unix socket to trust":        {"trusted_proxies_unix", false},
		"addresses from another product": {"trusted_proxies static private_ranges\n\t\tclient_ip_headers X-Original-Forwarded-For", true},
	} {
		t.Run("N03 "+name, func(t *testing.T) {
			g := startSite(t, strings.Replace(site, "admin $ADMIN", "admin $ADMIN\n\tservers {\n\t\t"+c.servers+"\n\t}\n\tlog default {\n\t\toutput file $DIR/gateway.log\n\t}", 1))
			if got := forgeryWarnings(t, &proxied{Gateway: g}); len(got) > 0 != c.warned {
				t.Errorf("warned about %v", got)
			}
			if _, all := examined(t, g); has(all, "warn", "proxies", "") != c.warned {
				t.Errorf("%+v", all)
			}
		})
	}
}

// N03: what people copy is strict.
func TestN03ClusterExampleReadsAddressesStrictly(t *testing.T) {
	text, err := os.ReadFile("../../../examples/cluster/Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	config, err := harness.Prepare(t).Adapt(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Apps struct {
			HTTP struct {
				Servers map[string]struct {
					TrustedProxies json.RawMessage `json:"trusted_proxies"`
					Strict         int             `json:"trusted_proxies_strict"`
				}
			}
		}
	}
	if err := json.Unmarshal(config, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Apps.HTTP.Servers) == 0 {
		t.Fatalf("no servers in %s", config)
	}
	for name, s := range c.Apps.HTTP.Servers {
		if len(s.TrustedProxies) == 0 || s.Strict == 0 {
			t.Errorf("server %s: %+v", name, s)
		}
	}
}
