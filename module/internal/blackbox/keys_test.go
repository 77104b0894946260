package blackbox

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// publishedKeys are the kids that relying parties are shown, with their algorithms.
func publishedKeys(t *testing.T, g *harness.Gateway) map[string]string {
	t.Helper()
	status, body := harness.Get(t, g.ID+"/.well-known/jwks.json")
	var set struct {
		Keys []struct{ Kid, Alg string }
	}
	if err := json.Unmarshal([]byte(body), &set); err != nil || status != http.StatusOK {
		t.Fatal(status, body, err)
	}
	keys := make(map[string]string)
	for _, k := range set.Keys {
		keys[k.Kid] = k.Alg
	}
	return keys
}

func administer(t *testing.T, g *harness.Gateway, method, path, body string, want int) {
	t.Helper()
	r, err := http.NewRequest(method, g.Admin+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != want {
		t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
}

func TestSigningKeysAreReplacedAndRevoked(t *testing.T) { // M07
	g, _ := start(t)
	access, refresh := tokens(t, g, web)
	kid := signedBy(t, access)
	if keys := publishedKeys(t, g); keys[kid] != "ES256" {
		t.Fatalf("published: %v", keys)
	}
	before := len(publishedKeys(t, g))
	administer(t, g, http.MethodPost, "/gatehouse/keys/rotate", `{"alg":"ES256"}`, http.StatusOK)
	administer(t, g, http.MethodPost, "/gatehouse/keys/rotate", `{"alg":"ES256"}`, http.StatusOK)
	keys := publishedKeys(t, g)
	if len(keys) != before+1 || keys[kid] == "" {
		t.Errorf("published after a rotation: %v", keys)
	}
	p := g.Token(t, web, refreshWith(refresh))
	during, refresh := wantTokens(t, p)
	if signedBy(t, during) != kid {
		t.Error("the next key signs before everybody can have seen it")
	}

	administer(t, g, http.MethodDelete, "/gatehouse/keys/"+kid, "", http.StatusNoContent)
	revoked := time.Now()
	for _, raw := range []string{access, during} {
		wantDead(t, g, raw)
	}
	if took := time.Since(revoked); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if keys := publishedKeys(t, g); keys[kid] != "" || len(keys) != before {
		t.Errorf("published after the key was revoked: %v", keys)
	}
	after, _ := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
	if signer := signedBy(t, after); signer == kid || keys[signer] == "" {
		t.Errorf("%s signs, which is not the key that was to follow", signer)
	}
	if p := g.Call(t, http.MethodGet, "/read/1", after); p.Status != http.StatusOK {
		t.Errorf("a token of the next key: %d %s", p.Status, p.Body)
	}
	administer(t, g, http.MethodDelete, "/gatehouse/keys/unknown", "", http.StatusNotFound)
}
