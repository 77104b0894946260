package qrlogin

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/oauth"
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

// startWithClock is the authorization server without Caddy, whose lives pass as the test
// wants. The rest is as it is in the gateway, but for how long polls hang: who hangs does
// not see a clock that is put forward.
func startWithClock(t *testing.T) (*portal, *clock) {
	t.Helper()
	t.Parallel()
	c, p := new(clock), newPortal(t)
	var server http.Handler
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { server.ServeHTTP(w, r) }))
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p.issuer = "https://id.test:" + port
	server = gatewaytest.NewServer(t, gatewaytest.ServerConfig{
		Issuer: p.issuer, Now: c.now, Poll: time.Second,
		Client: &oauth.Client{
			ID: "portal", Name: "Portal", VariantB: true, SecretHashes: []string{gatewaytest.Digest(portalSecret)},
			RedirectURIs: []string{p.at("portal") + "/callback"}, Scopes: []string{oauth.SNSLogin, oauth.SNSUserinfo},
		},
		Directory: directorytest.NewMemory(directorytest.Seed{
			User: directory.User{ID: "u-1", Username: username, Nickname: "u_maria"}, Password: harness.Password,
		}),
	})
	web.StartTLS()
	t.Cleanup(web.Close)
	return p, c
}

func TestExpiredQRCodeIsReplaced(t *testing.T) { // B25
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
