package gateway

import (
	"net/url"
	"testing"

	"golang.org/x/oauth2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// A40: what the id_token says is what the request said and who signed in, whatever the
// forms carried on the way (CVE class of nonces, scopes and challenges in hidden fields).
func TestIDTokenFollowsTheRequestNotTheForm(t *testing.T) {
	g := startOpenID(t)
	p := newParty(t, g, "es")
	b := harness.NewBrowser(t, g.ID)
	verifier := oauth2.GenerateVerifier()
	login := b.Get(p.config.AuthCodeURL("S", oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("nonce", "of the request")))
	evil := url.Values{
		"nonce": {"evil"}, "scope": {"openid read"}, "sub": {"u-2"}, "user": {"u-2"}, "acr": {"evil"}, "auth_time": {"1"}, "claims": {`{"id_token":{"sub":"u-2"}}`},
		"code_challenge": {harness.Challenge("x")}, "resource": {"https://evil.example"}, "id_token_hint": {"evil"}, "max_age": {"0"}, "pushed": {"evil"},
	}
	with := copied(evil)
	with.Set("username", username)
	with.Set("password", password)
	c := wantCode(t, g, b.Submit(login, with), partyTo) // the party is trusted: there is no second page
	if _, err := p.config.Exchange(t.Context(), c, oauth2.VerifierOption("x")); err == nil {
		t.Error("A40 the challenge was taken from the form")
	}
	got, err := p.config.Exchange(t.Context(), c, oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	id := p.verify(got, "of the request")
	claims, access := claimsOf(t, rawID(t, got)), claimsOf(t, got.AccessToken)
	if id.Subject != "u-1" || claims["acr"] != nil || claims["auth_time"] == 1.0 {
		t.Errorf("A40 %v", claims)
	}
	if access["sub"] != "u-1" || access["scope"] != "openid profile email" {
		t.Errorf("A40 %v", access)
	}
}
