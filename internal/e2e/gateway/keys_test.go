package gateway

import (
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// administer is admin, which must be answered so.
func administer(t *testing.T, g *harness.Gateway, method, path, body string, want int) {
	t.Helper()
	if p := admin(t, g, method, path, body); p.Status != want {
		t.Fatalf("%s %s: %d %s", method, path, p.Status, p.Body)
	}
}

func TestSigningKeysAreReplacedAndRevoked(t *testing.T) { // M07
	g, _ := start(t)
	access, refresh := tokens(t, g, web)
	kid := signedBy(t, access)
	if keys := publishedKeys(t, g); keys[kid]["alg"] != "ES256" {
		t.Fatalf("published: %v", keys)
	}
	before := len(publishedKeys(t, g))
	administer(t, g, http.MethodPost, "keys/rotate", `{"alg":"ES256"}`, http.StatusOK)
	administer(t, g, http.MethodPost, "keys/rotate", `{"alg":"ES256"}`, http.StatusOK)
	keys := publishedKeys(t, g)
	if len(keys) != before+1 || keys[kid] == nil {
		t.Errorf("published after a rotation: %v", keys)
	}
	p := g.Token(t, web, refreshWith(refresh))
	during, refresh := wantTokens(t, p)
	if signedBy(t, during) != kid {
		t.Error("the next key signs before everybody can have seen it")
	}

	administer(t, g, http.MethodDelete, "keys/"+kid, "", http.StatusNoContent)
	revoked := time.Now()
	for _, raw := range []string{access, during} {
		wantDead(t, g, raw)
	}
	if took := time.Since(revoked); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if keys := publishedKeys(t, g); keys[kid] != nil || len(keys) != before {
		t.Errorf("published after the key was revoked: %v", keys)
	}
	after, _ := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
	if signer := signedBy(t, after); signer == kid || keys[signer] == nil {
		t.Errorf("%s signs, which is not the key that was to follow", signer)
	}
	if p := g.Call(t, http.MethodGet, "/read/1", after); p.Status != http.StatusOK {
		t.Errorf("a token of the next key: %d %s", p.Status, p.Body)
	}
	administer(t, g, http.MethodDelete, "keys/unknown", "", http.StatusNotFound)
}
