package stockclients

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	username, password = "alice", harness.Password

	users = `{"users":[
{"id":"u-1","username":"alice","name":"Alice Liddell","nickname":"Al","email":"alice@example.com","picture":"https://pictures.example/alice.png","password_hash":"` + harness.PasswordHash + `"}
]}`

	site = "{\n" + harness.Quiet + `
	gatehouse {
		issuer http://$ID
		name "Test ID"
		store bolt $DIR/state.db
		users file $DIR/users.json
		tokens {
			audience https://api.example
		}
		scope read "Read"
		$CLIENTS
	}
}
http://$ID {
	oauth_server
}
`
)

// begin starts a gateway with these clients beside the user alice; the pairs are filled in.
func begin(t *testing.T, clients string, more ...string) *harness.Gateway {
	t.Helper()
	g := harness.Prepare(t, more...)
	g.WriteFile(t, "users.json", users)
	g.Start(t, strings.Replace(site, "$CLIENTS", clients, 1))
	return g
}

// signIn signs alice in at a client and returns its tokens.
func signIn(t *testing.T, g *harness.Gateway, c harness.Credentials, scope string) map[string]string {
	t.Helper()
	q := url.Values{
		"client_id": {c.ID}, "redirect_uri": {openidTo}, "response_type": {"code"}, "scope": {scope}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}
	back := harness.NewBrowser(t, g.ID).Authorize(g.ID+"/authorize?"+q.Encode(), username, password)
	p := g.Token(t, c, url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {openidTo}, "code_verifier": {harness.Verifier},
	})
	if p.Status != http.StatusOK {
		t.Fatalf("exchange: %d %s", p.Status, p.Body)
	}
	tokens := make(map[string]string)
	for name, value := range p.JSON(t) {
		tokens[name], _ = value.(string)
	}
	return tokens
}
