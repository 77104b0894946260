package cli

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// A server at a Unix socket knows the addresses of clients only if it trusts whoever connects there.
func TestUnixSocketsNeedATrustOfTheirOwn(t *testing.T) {
	for name, c := range map[string]struct {
		servers               string
		told, forged, without bool
	}{
		"nobody is trusted":                 {"protocols h1", false, false, true},
		"trusted_proxies does not reach it": {"trusted_proxies static 127.0.0.1/32\n\t\ttrusted_proxies_strict", false, false, true},
		"trusted_proxies_unix alone":        {"trusted_proxies_unix", true, true, false},
		"PROXY protocol":                    {"listener_wrappers {\n\t\t\tproxy_protocol\n\t\t\ttls\n\t\t}", false, false, false},
		"trusted_proxies_unix and strict":   {"trusted_proxies_unix\n\t\ttrusted_proxies_strict", true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "gh") // paths of sockets must be short
			harness.FailOn(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			socket := filepath.Join(dir, "s")
			g := startSite(t, strings.Replace(site, "admin $ADMIN", "admin $ADMIN\n\tservers {\n\t\t"+c.servers+"\n\t}\n\tlog default {\n\t\toutput file $DIR/gateway.log\n\t}", 1)+
				"http://api.example {\n\tbind unix/"+socket+"\n\tapi_limit {\n\t\tip 1 1h\n\t}\n\trespond ok\n}\n")
			asked := func(address string) int {
				client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "unix", socket)
				}}}
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api.example/", nil)
				harness.FailOn(t, err)
				r.Header.Set("X-Forwarded-For", address)
				response, err := client.Do(r)
				harness.FailOn(t, err)
				_ = response.Body.Close()
				return response.StatusCode
			}
			first, second := asked("192.0.2.1"), asked("192.0.2.2")
			if want := map[bool]int{true: http.StatusOK, false: http.StatusTooManyRequests}[c.told]; first != http.StatusOK || second != want {
				t.Errorf("two addresses are answered %d and %d", first, second)
			}
			if got := forgeryWarnings(t, &proxied{Gateway: g}); len(got) > 0 != c.forged {
				t.Errorf("warned that clients forge their address at %v", got)
			}
			log, err := os.ReadFile(filepath.Join(g.Dir, "gateway.log"))
			harness.FailOn(t, err)
			if got := strings.Count(string(log), "no request has an address of its own"); got > 0 != c.without || got > 1 {
				t.Errorf("warned %d times that no request has an address", got)
			}
			_, all := examined(t, g)
			if has(all, "warn", "proxies", "no request has an address of its own") != c.without || has(all, "warn", "proxies", "leftmost address") != c.forged {
				t.Errorf("%+v", all)
			}
		})
	}
}

// Jobs of callers without a token have room by address. An api_rest without jobs needs none.
func TestJobsAtAUnixSocketNeedATrust(t *testing.T) {
	const imports = "job /imports {\n\t\t\tupstream POST /import\n\t\t}"
	wrapped := func(by string) string { return "listener_wrappers {\n\t\t\t" + by + "\n\t\t\ttls\n\t\t}" }
	for name, c := range map[string]struct {
		job, servers string
		want         int
	}{
		"jobs":                             {imports, "protocols h1", 1},
		"no jobs":                          {"", "protocols h1", 0},
		"a wrapper that tells no address":  {imports, wrapped("http_redirect"), 1},
		"a wrapper that tells the address": {imports, wrapped("proxy_protocol"), 0},
	} {
		dir, err := os.MkdirTemp("", "gh") // paths of sockets must be short
		harness.FailOn(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		socket := "unix/" + filepath.Join(dir, "s")
		options := "admin $ADMIN\n\tservers " + socket + " {\n\t\t" + c.servers + "\n\t}\n\tlog default {\n\t\toutput file $DIR/gateway.log\n\t}"
		g := startSite(t, strings.Replace(site, "admin $ADMIN", options, 1)+
			"http://api.example {\n\tbind "+socket+"\n\tapi_rest {\n\t\tto 127.0.0.1:1\n\t\tresource /things\n\t\t"+c.job+"\n\t}\n}\n")
		log, err := os.ReadFile(filepath.Join(g.Dir, "gateway.log"))
		harness.FailOn(t, err)
		if got := strings.Count(string(log), "no request has an address of its own"); got != c.want {
			t.Errorf("%s: warned %d times, want %d", name, got, c.want)
		}
	}
}
