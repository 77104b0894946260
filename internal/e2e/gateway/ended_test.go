package gateway

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// F10: what a user ends is over for who asks about it too, also what a password began.
func TestTokensEndedByTheUserAreInactive(t *testing.T) {
	day := time.Now().AddDate(1, 0, 0).Format(time.DateOnly)
	g, _ := startSite(t, trustingSite, "$GLOBAL",
		resourceServerClient+strings.Replace(tillClient(day), "scopes read", "grants refresh_token\n\t\t\tscopes read", 1))
	b, access, refresh := allowed(t, g, web, username)
	tillAccess, tillRefresh := wantTokens(t, at(t, g, "/token", till, passwordForm(username, password)))
	if tillRefresh == "" {
		t.Fatal("no refresh token")
	}
	_, tillRefresh = wantTokens(t, g.Token(t, till, refreshWith(tillRefresh)))
	held := []struct {
		who             harness.Credentials
		access, refresh string
	}{{web, access, refresh}, {till, tillAccess, tillRefresh}}
	for _, h := range held {
		wantActive(t, at(t, g, "/introspect", resourceServer, tokenForm(h.access)))
		wantActive(t, at(t, g, "/introspect", h.who, tokenForm(h.refresh)))
	}
	wantPage(t, press(b, accountOf(t, g, b, username), "all", "everything"), http.StatusOK)
	for _, h := range held {
		wantInactive(t, at(t, g, "/introspect", resourceServer, tokenForm(h.access)))
		wantInactive(t, at(t, g, "/introspect", h.who, tokenForm(h.refresh)))
		wantOAuth(t, g.Token(t, h.who, refreshWith(h.refresh)), http.StatusBadRequest, "invalid_grant")
		wantDead(t, g, h.access)
	}
}
