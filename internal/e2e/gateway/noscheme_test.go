package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S08: who leaves the word Bearer out is told what the header must be.
func TestNonBearerAuthorizationIsExplained(t *testing.T) {
	g, _ := startSite(t, trustingSite)
	access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	for authorization, explained := range map[string]bool{"": false, access: true, "Token " + access: true, "Basic dTpw": true} {
		p := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read", "", "Authorization", authorization)
		if p.Status != http.StatusUnauthorized || strings.Contains(p.Body, "must be `Bearer`") != explained {
			t.Errorf("%.12q: %d %s", authorization, p.Status, p.Body)
		}
	}
}
