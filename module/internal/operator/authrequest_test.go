package operator

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// authRequestConfig serves the API with the lines of the deploy page.
const authRequestConfig = `daemon off;
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
		listen 127.0.0.1:$FRONT;
		$LINES
	}
}
`

// S23: nginx keeps the API and asks a guard, with the lines of the deploy page.
func TestNginxAsksAGuardByAuthRequest(t *testing.T) {
	if _, err := os.Stat(nginxProgram); err != nil {
		t.Fatal("nginx is not installed: run ./xcaddy.sh test in the top folder, which does that first: ", err)
	}
	const section = "In front of an API behind nginx"
	guard := strings.Replace(deployLines(t, section, "caddyfile"), ":8090 {", "http://$API {", 1)
	front := harness.FreePorts(t, 1)[0]
	api := harness.NewUpstream(t)
	g := startSite(t, site[:strings.Index(site, "http://$API {")]+guard+"\n")
	lines := strings.NewReplacer("10.0.0.20:9000", api.Addr, "10.0.0.11:8090", strings.Replace(strings.TrimPrefix(g.API, "http://"), "localhost", "127.0.0.1", 1)).Replace(deployLines(t, section, "nginx"))
	lines = strings.Replace(lines, "proxy_pass_request_body off;", "proxy_pass_request_body off;\n\tproxy_set_header Host "+strings.TrimPrefix(g.API, "http://")+";", 1)
	file := g.WriteFile(t, "nginx.conf", strings.NewReplacer("$DIR", g.Dir, "$FRONT", fmt.Sprint(front), "$LINES", lines).Replace(authRequestConfig))
	cmd := exec.Command(nginxProgram, "-e", "stderr", "-p", g.Dir, "-c", file)
	var out harness.Output
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address := fmt.Sprintf("127.0.0.1:%d", front)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nginx does not answer: %s", &out)
		}
	}
	_, access := clientToken(t, g, machine) // scope read
	ask := func(method, path, token string) harness.Page {
		t.Helper()
		header := []string{"X-Auth-Subject", "admin"}
		if token != "" {
			header = append(header, "Authorization", "Bearer "+token)
		}
		return harness.Send(t, harness.NewBrowser(t, "").Client, method, "http://"+address+path, "", header...)
	}
	if p := ask("GET", "/read/1?x=1", access); p.Status != http.StatusOK {
		t.Errorf("S23 a valid token: %d %s %s", p.Status, p.Body, &out)
	}
	if h := api.Hits(); len(h) != 1 || h[0].Header.Get("X-Auth-Subject") != "client:machine" || h[0].Header.Get("X-Auth-Client") != "machine" ||
		h[0].Header.Get("X-Auth-Scopes") != "read" || h[0].Header.Get("Authorization") != "" || h[0].RequestURI != "/read/1?x=1" {
		t.Errorf("S23 the API saw %v", h)
	}
	if p := ask("GET", "/public", ""); p.Status != http.StatusOK {
		t.Errorf("S23 a public path: %d", p.Status)
	}
	if h := api.Hits(); len(h) != 1 || h[0].Header.Get("X-Auth-Subject") != "" {
		t.Errorf("S23 of nobody the API saw %v", h)
	}
	for range 70 { // never 429, of which nginx makes 500
		if p := ask("GET", "/read", "x.y.z"); p.Status != http.StatusUnauthorized || !strings.HasPrefix(p.Header.Get("Www-Authenticate"), "Bearer ") {
			t.Fatalf("S23 a bad token: %d %v", p.Status, p.Header)
		}
	}
	for _, c := range []struct {
		method, path, token string
		want                int
	}{{"GET", "/read", "", 401}, {"POST", "/read", access, 403}, {"GET", "/else", access, 403}} {
		if p := ask(c.method, c.path, c.token); p.Status != c.want {
			t.Errorf("S23 %s %s: %d, want %d", c.method, c.path, p.Status, c.want)
		}
	}
	if h := api.Hits(); len(h) != 0 {
		t.Errorf("S23 refused requests reached the API: %v", h)
	}
}
