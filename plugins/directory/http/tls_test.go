package http

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/caddytls" // its trust pools
	"github.com/gatehouse/gatehouse/plugins/internal/remote"
)

func trust(file string) *remote.TLS {
	return &remote.TLS{TrustPool: json.RawMessage(`{"provider":"file","pem_files":["` + file + `"]}`)}
}

// What a directory is asked holds passwords. Its TLS has a floor, a certificate counts for
// its name only, and neither is lost when the source is opened once more, as a reload does
// (the mistake of CVE-2024-23656).
func TestPasswordsAreSentOverVerifiedTLSOnly(t *testing.T) {
	var asked atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, `{"id":"u-1","username":"ann"}`)
	})
	old := httptest.NewUnstartedServer(handler)
	old.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11} //nolint:gosec // what is refused
	old.Config.ErrorLog = nil
	old.StartTLS()
	t.Cleanup(old.Close)
	good := httptest.NewTLSServer(handler)
	t.Cleanup(good.Close)
	// A certificate of the tests of net/http is for example.com and 127.0.0.1.
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: good.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for name, c := range map[string]struct {
			source Source
			works  bool
		}{
			"TLS 1.2 and newer":     {Source{URL: good.URL, CA: ca}, true},
			"Caddy's trust_pool":    {Source{URL: good.URL, TLS: trust(ca)}, true},
			"another trust_pool":    {Source{URL: good.URL, TLS: &remote.TLS{TrustPool: json.RawMessage(`{"provider":"system"}`)}}, false},
			"TLS 1.1":               {Source{URL: old.URL, CA: ca}, false},
			"an unknown authority":  {Source{URL: good.URL}, false},
			"a name of another one": {Source{URL: "https://localhost" + good.URL[len("https://127.0.0.1"):], CA: ca}, false},
		} {
			before := asked.Load()
			d := opened(t, &c.source)
			user, ok, err := d.Authenticate(t.Context(), "ann", "secret")
			if c.works && (err != nil || !ok || user.ID != "u-1") {
				t.Errorf("%s: %v %v", name, ok, err)
			}
			if !c.works && (err == nil || ok || asked.Load() != before) {
				t.Errorf("%s: the password was sent: %v %v", name, ok, err)
			}
		}
	}
}
