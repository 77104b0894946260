package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// A JWS has forms in JSON, with several signatures and headers nobody signed (RFC 7515
// section 7.2). Libraries that read them have been talked into the wrong key
// (CVE-2016-9122); here the compact form is the only one, wherever a JWT comes in.
func TestJSONSerializedJWSIsRefused(t *testing.T) {
	key := harness.NewClientKey(t)
	g, up := startSite(t, trustingSite, "$GLOBAL", partyClient("party", "")+
		"client keyed {\n\t\t\tjwks `"+key.JWKS+"`\n\t\t\tgrants client_credentials\n\t\t\tscopes read\n\t\t\tdefault_scopes read\n\t\t}\n")
	access, _ := tokens(t, g, web)
	b := newCoder(t, g).b
	hint := rawID(t, newParty(t, g, "party").signIn(b, username, "n"))
	forms := func(compact string) []string {
		p := strings.Split(compact, ".")
		flat := `"payload":"` + p[1] + `","protected":"` + p[0] + `","signature":"` + p[2] + `"`
		return []string{
			"{" + flat + "}", "{" + flat + `,"header":{"kid":"x"}}`,
			`{"payload":"` + p[1] + `","signatures":[{"protected":"` + p[0] + `","signature":"` + p[2] + `"},{"header":{"alg":"none"},"signature":""}]}`,
			"[" + `"` + compact + `"]`, `"` + compact + `"`,
		}
	}
	for _, sent := range forms(access) {
		p := bearer(t, g, "/read", sent)
		if p.Status != http.StatusUnauthorized && p.Status != http.StatusBadRequest {
			t.Errorf("at the guard: %d %.60s", p.Status, sent)
		}
		wantInactive(t, at(t, g, "/introspect", web, tokenForm(sent), "X-Forwarded-For", somebody()))
	}
	for i := range forms(access) {
		assertion := key.Assertion(t, "keyed", g.ID)
		ask := func(assertion string) url.Values {
			return url.Values{"grant_type": {"client_credentials"}, "client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {assertion}}
		}
		p := post(t, g, ask(forms(assertion)[i]).Encode(), "X-Forwarded-For", somebody())
		wantOAuth(t, p, http.StatusUnauthorized, "invalid_client")
		wantTokens(t, post(t, g, ask(assertion).Encode())) // and the true one was not spent by that
	}
	for _, sent := range forms(hint) {
		wantError(t, g, b.Get(authorizeURL(g, "party", "redirect_uri", partyTo, "scope", "openid", "id_token_hint", sent)), partyTo, "invalid_request")
	}
	wantHits(t, up, 0)
}
