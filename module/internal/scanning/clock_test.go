package scanning

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/authserver"
	"github.com/gatehouse/gatehouse/module/crossdevice"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/harness"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/metrics"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store/storetest"
	"github.com/gatehouse/gatehouse/module/token"
	"github.com/gatehouse/gatehouse/module/webui"
)

// clock is real time and what was passed over.
type clock struct {
	mu     sync.Mutex
	passed time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.passed)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed += d
}

type oneClient struct{ one *oauth.Client }

func (o oneClient) Client(_ context.Context, id string) (*oauth.Client, bool, error) {
	return o.one, id == o.one.ID, nil
}
func (oneClient) AllowsOrigin(string) bool          { return false }
func (oneClient) OptionalGrants() []oauth.GrantType { return nil }

// startWithClock is the authorization server without Caddy, whose lives pass as the test
// wants. The rest is as it is in the gateway, but for how long polls hang: who hangs does
// not see a clock that is put forward.
func startWithClock(t *testing.T) (*portal, *clock) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c, p := new(clock), newPortal(t)
	var server *authserver.Server
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { server.ServeHTTP(w, r) }))
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	must(err)
	p.issuer = "https://id.test:" + port
	issuer, err := url.Parse(p.issuer)
	must(err)

	memory := storetest.NewMemory(c.now)
	keys, err := secret.NewKeys(bytes.Repeat([]byte("k"), 32))
	must(err)
	keysOf := func(context.Context) (*secret.Keys, error) { return keys, nil }
	ring, err := token.NewRing(token.RingConfig{Store: memory, Keys: keysOf, Now: c.now})
	must(err)
	tokens, err := token.NewIssuer(token.IssuerConfig{Ring: ring, Issuer: p.issuer, IDAlgs: []string{"ES256"}, Now: c.now})
	must(err)
	revocations, err := token.NewRevocations(token.RevocationsConfig{Store: memory, Now: c.now, MaxTokenLife: func() time.Duration { return 2 * time.Hour }})
	must(err)
	verifier, err := token.NewVerifier(token.VerifierConfig{Ring: ring, Revocations: revocations, Now: c.now})
	must(err)
	tickets, err := crossdevice.New(crossdevice.Config{Store: memory, Now: c.now, Hold: time.Second})
	must(err)
	pages, err := webui.New(webui.Config{HTTPS: true, Now: c.now})
	must(err)
	server, err = authserver.New(authserver.Config{
		Issuer: issuer, Store: memory, Keys: keysOf, Tokens: tokens, Revocations: revocations, Verifier: verifier, Pages: pages,
		Metrics: metrics.Set{}, Log: slog.New(slog.DiscardHandler), CrossDevice: tickets, Now: c.now, Audience: []string{p.issuer},
		Clients: oneClient{one: &oauth.Client{
			ID: "portal", Name: "Portal", VariantB: true, SecretHashes: []string{secret.Digest(portalSecret)},
			RedirectURIs: []string{p.at("portal") + "/callback"}, Scopes: []string{oauth.SNSLogin, oauth.SNSUserinfo},
		}},
		Directory: directorytest.NewMemory(directorytest.Seed{
			User: directory.User{ID: "u-1", Username: username, Nickname: "u_maria"}, Password: harness.Password,
		}),
		ClientIP: func(*http.Request) string { return "127.0.0.1" },
	})
	must(err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = revocations.Run(ctx) }()
	web.StartTLS()
	t.Cleanup(func() { tickets.Close(); web.Close(); stop(); <-done })
	return p, c
}

func TestACodeRunsOutAndMakesRoomForANewOne(t *testing.T) { // B25
	p, c := startWithClock(t)
	p.browse(t, "expiry", func(asked string) string {
		d, err := time.ParseDuration(strings.TrimPrefix(asked, "pass:"))
		if err != nil {
			t.Error(err)
		}
		c.pass(d)
		return p.issuer
	})
}
