package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestClientStoredByAnotherNodeWorksUntilDeleted(t *testing.T) {
	g, _, memory := startFaulty(t)
	elsewhere, err := gatewaytest.NewClients(memory)
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := elsewhere.Create(t.Context(), gatewaytest.Client{Client: oauth.Client{ID: "stored", Scopes: []string{"read"}}})
	if err != nil {
		t.Fatal(err)
	}
	c := harness.Credentials{ID: "stored", Secret: secret}
	token, _ := wantTokens(t, g.Token(t, c, credentialsForm))
	if p := bearer(t, g, "/read", token); p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}

	next, err := elsewhere.RotateSecret(t.Context(), "stored", 0)
	if err != nil {
		t.Fatal(err)
	}
	wantOAuth(t, g.Token(t, c, credentialsForm), http.StatusUnauthorized, "invalid_client")
	c.Secret = next
	wantTokens(t, g.Token(t, c, credentialsForm))

	if err := elsewhere.Delete(t.Context(), "stored"); err != nil {
		t.Fatal(err)
	}
	wantOAuth(t, g.Token(t, c, credentialsForm), http.StatusUnauthorized, "invalid_client")
	wantDead(t, g, token)
}

func TestTokenOfAnUnknownClientIsRefused(t *testing.T) {
	g, up, memory := startFaulty(t)
	elsewhere, err := gatewaytest.NewClients(memory)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	for _, id := range []string{"one", "two"} {
		_, secret, err := elsewhere.Create(t.Context(), gatewaytest.Client{Client: oauth.Client{ID: id, Scopes: []string{"read"}}})
		if err != nil {
			t.Fatal(err)
		}
		token, _ := wantTokens(t, g.Token(t, harness.Credentials{ID: id, Secret: secret}, credentialsForm))
		tokens = append(tokens, token)
	}
	// Without a revocation, as after a crash between the two writes.
	if err := memory.Delete(t.Context(), store.Key{Kind: store.KindClient, ID: "one"}); err != nil {
		t.Fatal(err)
	}
	wantChallenge(t, bearer(t, g, "/read", tokens[0]), up, http.StatusUnauthorized, "invalid_token")
	memory.Fail(errors.New("away"))
	defer memory.Fail(nil)
	if p := bearer(t, g, "/read", tokens[1]); p.Status != http.StatusServiceUnavailable || p.Header.Get("Retry-After") == "" {
		t.Errorf("without the store: %d %s", p.Status, p.Body)
	}
	wantHits(t, up, 0)
}

// N17: a guard goes on without the store for the tokens of stored clients, as for all others.
func TestStoredClientsTokensSurviveAStoreOutage(t *testing.T) {
	g, _, memory := startFaulty(t)
	elsewhere, err := gatewaytest.NewClients(memory)
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := elsewhere.Create(t.Context(), gatewaytest.Client{Client: oauth.Client{ID: "stored", Scopes: []string{"read"}}})
	if err != nil {
		t.Fatal(err)
	}
	token, _ := wantTokens(t, g.Token(t, harness.Credentials{ID: "stored", Secret: secret}, credentialsForm))
	if p := bearer(t, g, "/read", token); p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	memory.Fail(errors.New("away"))
	defer memory.Fail(nil)
	time.Sleep(3100 * time.Millisecond) // what a guard found about a client is asked again then
	if p := bearer(t, g, "/read", token); p.Status != http.StatusOK {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

func TestStoredPublicClientMayCallFromItsOrigin(t *testing.T) {
	g, _, memory := startFaulty(t)
	elsewhere, err := gatewaytest.NewClients(memory)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := elsewhere.Create(t.Context(), gatewaytest.Client{Client: oauth.Client{
		ID: "stored-spa", Public: true, RedirectURIs: []string{"https://stored.example/cb"}, Scopes: []string{"read"},
	}}); err != nil {
		t.Fatal(err)
	}
	for origin, want := range map[string]string{"https://stored.example": "https://stored.example", "https://evil.example": ""} {
		p := send(t, harness.NewBrowser(t, ""), http.MethodOptions, g.ID+"/token", "", "Origin", origin, "Access-Control-Request-Method", "POST")
		if got := p.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s: %q", origin, got)
		}
	}
}

// Every client's scripts may call, however many clients there are, until it or the origin is removed.
func TestStoredClientsOriginsMayCall(t *testing.T) {
	const clients = 1500
	g, _, memory := startFaulty(t)
	elsewhere, err := gatewaytest.NewClients(memory)
	if err != nil {
		t.Fatal(err)
	}
	for i := range clients {
		id := fmt.Sprintf("spa-%05d", i)
		if _, _, err := elsewhere.Create(t.Context(), gatewaytest.Client{Client: oauth.Client{
			ID: id, Public: true, RedirectURIs: []string{"https://" + id + ".example/cb"}, Scopes: []string{"read"},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	browser := harness.NewBrowser(t, "")
	allowed := func(i int) bool {
		t.Helper()
		origin := fmt.Sprintf("https://spa-%05d.example", i)
		p := send(t, browser, http.MethodOptions, g.ID+"/token", "", "Origin", origin, "Access-Control-Request-Method", "POST")
		return p.Header.Get("Access-Control-Allow-Origin") == origin
	}
	for i := range clients {
		if !allowed(i) {
			t.Fatalf("client %d", i)
		}
	}
	if allowed(clients) {
		t.Error("an origin that no client has")
	}
	if err := elsewhere.Delete(t.Context(), "spa-01499"); err != nil {
		t.Fatal(err)
	}
	err = elsewhere.Update(t.Context(), "spa-01498", func(d *gatewaytest.Client) error {
		d.RedirectURIs = []string{"https://spa-01500.example/cb"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2100 * time.Millisecond) // what is known of an origin is asked again then
	for i, want := range map[int]bool{1497: true, 1498: false, 1499: false, 1500: true} {
		if allowed(i) != want {
			t.Errorf("client %d: want %t", i, want)
		}
	}
}
