package restapi

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// JSON-RPC: the parameters of a sign-in are an object, and its secret is in no answer, log or configuration.
func TestSignInByJSONRPC(t *testing.T) { // R12
	var seen []string
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, string(body))
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(string(body), "user.login") {
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","result":"session-0123456789","id":1}`)
			return
		}
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","result":{"id":7,"name":"h"},"id":1}`)
	})
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(wikiPassword+`"],"x":["`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, logged := startLogging(t, u.Addr, strings.ReplaceAll(`"upstream": $TO, "login": {"steps": [{"method": "POST", "upstream": "/rpc", "as": "json", "send": [
			{"name": "jsonrpc", "value": "\"2.0\""}, {"name": "method", "value": "user.login"}, {"name": "/params/username", "value": "gateway"},
			{"name": "/params/passwords", "value": "[\"{file.FILE}\"]"}, {"name": "id", "value": "1"}],
		"keep": [{"from": "json", "name": "/result", "in": "body", "as": "auth"}]}]},
		"resources": [{"path": "hosts", "routes": [{"method": "GET", "path": "/hosts/{id}", "upstream": "/rpc", "rpc": {"method": "host.get", "params": "[{id}]"}}]}]`, "FILE", file))
	p := r.do("reader", "GET", "/hosts/7", "")
	if p.Status != 200 || len(seen) != 2 {
		t.Fatalf("%d %s, sent %q", p.Status, p.Body, seen)
	}
	const want = `{"jsonrpc":"2.0","method":"user.login","params":{"username":"gateway","passwords":["s3cr3t/p4ss\u0026word\"],\"x\":[\""]},"id":1}`
	if seen[0] != want || !strings.Contains(seen[1], `"auth":"session-0123456789"`) {
		t.Errorf("sent %q, want %s first", seen, want)
	}
	config := harness.Wire(t, r.Admin, "GET /config/")
	for _, secret := range []string{"s3cr3t", "session-0123456789"} {
		if strings.Contains(p.Body, secret) || strings.Contains(fmt.Sprint(config), secret) || strings.Contains(logged(), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}
