package remote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
)

func TestTimeoutIsAtMostAMinute(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		0: 3 * time.Second, time.Second: time.Second, time.Minute: time.Minute, time.Minute + 1: 0, -1: 0,
	} {
		if got, err := Timeout(caddy.Duration(given)); got != want || (err == nil) != (want > 0) {
			t.Errorf("%v: %v, %v", given, got, err)
		}
	}
}

func TestLoopbackHostsAreRecognized(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "10.0.0.1": false, "0.0.0.0": false, "::": false,
	} {
		if Loopback(host) != want {
			t.Errorf("Loopback(%q) = %v", host, !want)
		}
	}
}

func TestCAFileWithoutCertificatesIsNamed(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(empty, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{empty: empty + " holds no certificate", empty + "2": "no such file"} {
		if roots, _, err := Roots(file); err == nil || roots != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", file, roots, err)
		}
	}
}
