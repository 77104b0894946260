package blackbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// S16: clients refresh on a 401 only, and a proxy gives many of them one address. So a token that
// was refused is always answered with 401 and a challenge, however many were before.
func TestRefusedTokensAreAlwaysAnsweredWithAChallenge(t *testing.T) {
	g, up, m := startFaulty(t)
	f := newForger(t, g, m)
	from := func(address, token string) harness.Page {
		return send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+token, "X-Forwarded-For", address)
	}
	revoked, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	wantRevoked(t, at(t, g, "/revoke", machine, tokenForm(revoked)))
	now := time.Now().Unix()
	valid := f.token(nil)
	for name, token := range map[string]func(int) string{
		"S16 revoked":      func(int) string { return revoked },
		"S16 expired":      func(i int) string { return f.token(map[string]any{"exp": now - int64(i) - 1}) },
		"S16 garbage":      func(i int) string { return fmt.Sprintf("x.y.z%d", i) },
		"S16 forged":       func(i int) string { return valid[:strings.LastIndex(valid, ".")+1] + fmt.Sprintf("%086d", i) },
		"S16 one forgery":  func(int) string { return valid[:strings.LastIndex(valid, ".")+1] + strings.Repeat("A", 86) },
		"S16 no JWT of us": func(int) string { return "opaque-token-of-somebody-else" },
	} {
		t.Run(name, func(t *testing.T) {
			address := somebody()
			for i := range 80 {
				if p := from(address, token(i)); p.Status != http.StatusUnauthorized {
					t.Fatalf("request %d: %d %s", i+1, p.Status, p.Body)
				}
			}
			// A neighbour's tokens, behind the same address.
			wantChallenge(t, from(address, revoked), up, http.StatusUnauthorized, "invalid_token")
			wantChallenge(t, from(address, token(80)), up, http.StatusUnauthorized, "invalid_token")
			if p := from(address, f.token(nil)); p.Status != http.StatusOK {
				t.Errorf("a valid token from there: %d %s", p.Status, p.Body)
			}
			wantHits(t, up, 1)
		})
	}
}
