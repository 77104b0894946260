package gatewaytest

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// ServerConfig configures an authorization server without Caddy.
type ServerConfig struct {
	Issuer    string           // its address
	Now       func() time.Time // its clock
	Poll      time.Duration    // how long a poll may wait; it does not see a clock that moves
	Client    *oauth.Client    // the only one
	Directory directory.Directory
}

// Digest is the form in which a client's secret is configured.
func Digest(clientSecret string) string { return secret.Digest(clientSecret) }

type oneClient struct{ client *oauth.Client }

func (o oneClient) Client(_ context.Context, id string) (*oauth.Client, bool, error) {
	return o.client, id == o.client.ID, nil
}
func (oneClient) AllowsOrigin(string) bool          { return false }
func (oneClient) OptionalGrants() []oauth.GrantType { return nil }

// NewServer is an authorization server that keeps its records in memory and ends with the test.
func NewServer(t testing.TB, c ServerConfig) http.Handler {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	issuer, err := url.Parse(c.Issuer)
	must(err)
	memory := storetest.NewMemory(c.Now)
	keys, err := secret.NewKeys(bytes.Repeat([]byte("k"), 32))
	must(err)
	keysOf := func(context.Context) (*secret.Keys, error) { return keys, nil }
	revocations, err := revocationlist.New(revocationlist.Config{Store: memory, Now: c.Now, MaxTokenLife: func() time.Duration { return 2 * time.Hour }})
	must(err)
	ring, err := keyring.New(keyring.Config{Store: memory, Keys: keysOf, Revocations: revocations, Now: c.Now})
	must(err)
	tokens, err := token.NewIssuer(token.IssuerConfig{Ring: ring, Issuer: c.Issuer, IDAlgs: []string{"ES256"}, Now: c.Now})
	must(err)
	verifier, err := token.NewVerifier(token.VerifierConfig{Ring: ring, Revocations: revocations, Now: c.Now})
	must(err)
	tickets, err := crossdevice.New(crossdevice.Config{Store: memory, Now: c.Now, Hold: c.Poll})
	must(err)
	pages, err := webui.New(webui.Config{HTTPS: true, Now: c.Now})
	must(err)
	server, err := authserver.New(authserver.Config{
		Issuer: issuer, Store: memory, Keys: keysOf, Tokens: tokens, Revocations: revocations, Verifier: verifier, Pages: pages,
		Metrics: metrics.Set{}, Log: slog.New(slog.DiscardHandler), CrossDevice: tickets, Now: c.Now, Audience: []string{c.Issuer},
		Clients: oneClient{c.Client}, Directory: c.Directory,
		ClientIP: func(*http.Request) string { return "127.0.0.1" },
	})
	must(err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = revocations.Run(ctx) }()
	t.Cleanup(func() { tickets.Close(); stop(); <-done })
	return server
}
