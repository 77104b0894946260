package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// T15: a client has two secrets while its operator goes from one to the other.
func TestSecretIsReplacedWithAnOverlap(t *testing.T) {
	const next = "next-secret-0123456789-0123456789-0123456789"
	only := "secret " + web.Secret
	both := strings.Replace(site, only, only+"\n\t\t\tsecret "+next, 1)
	after := strings.Replace(site, only, "secret "+next, 1)
	old, fresh := web, harness.Credentials{ID: "web", Secret: next}
	g, _ := start(t)
	wantOAuth(t, g.Token(t, fresh, credentialsForm), http.StatusUnauthorized, "invalid_client")
	access, refresh := tokens(t, g, old)

	g.Load(t, both)
	for name, c := range map[string]harness.Credentials{"the old one": old, "the new one": fresh} {
		t.Run("T15 in the overlap "+name, func(t *testing.T) {
			wantTokens(t, g.Token(t, c, credentialsForm))
			wantTokens(t, g.Token(t, harness.Credentials{}, with(with(credentialsForm, "client_id", c.ID), "client_secret", c.Secret)))
		})
	}
	t.Run("T15 in the overlap no mixture of both", func(t *testing.T) {
		for _, s := range []string{web.Secret + next, web.Secret + "\n" + next, web.Secret + " " + next, web.Secret[:20] + next[20:]} {
			wantOAuth(t, g.Token(t, harness.Credentials{ID: "web", Secret: s}, credentialsForm), http.StatusUnauthorized, "invalid_client")
		}
	})

	g.Load(t, after)
	t.Run("T15 after the overlap", func(t *testing.T) {
		wantOAuth(t, g.Token(t, old, credentialsForm), http.StatusUnauthorized, "invalid_client")
		wantOAuth(t, at(t, g, "/introspect", old, tokenForm(access)), http.StatusUnauthorized, "invalid_client")
		wantTokens(t, g.Token(t, fresh, credentialsForm))
		// What was issued under the old one is the client's, not the secret's.
		if p := g.Call(t, http.MethodGet, "/read", access); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		wantTokens(t, g.Token(t, fresh, refreshWith(refresh)))
	})
}
