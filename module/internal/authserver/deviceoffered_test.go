package authserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// withoutDevices takes the device grant from every client.
func (g *tokenRig) withoutDevices() {
	for id := range g.clients.all {
		g.clients.change(id, func(c *oauth.Client) {
			c.Grants = slices.DeleteFunc(slices.Clone(c.Grants), func(g oauth.GrantType) bool { return g == oauth.DeviceCode })
		})
	}
}

// M02, M08: clients come and go while the server runs.
func TestDeviceFlowIsAdvertisedWhileAClientHasTheGrant(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(nil)
	appAsks := params{"grant_type": deviceGrant, "device_code": d.DeviceCode, "client_id": "app"}
	offered := func(want bool) {
		t.Helper()
		for _, address := range []string{metadataAddress, discoveryAddress} {
			a := g.do("GET", address, "")
			endpoint := strings.Contains(a.body, `"device_authorization_endpoint":"`+tokenIssuer+`/device_authorization"`)
			if grant := slices.Contains(g.advertised().Grants, deviceGrant); endpoint != want || grant != want || strings.Contains(a.body, "device") != want {
				t.Errorf("%s: want %t: %s", address, want, a.body)
			}
		}
		code := "unsupported_grant_type"
		if want {
			code = "unauthorized_client"
		}
		g.want(g.token(appAsks), 400, code)
		g.want(g.askDevice(params{"client_id": "app", "scope": "read"}), 400, code)
	}
	offered(true)
	before := g.do("GET", metadataAddress, "").header.Get("ETag")
	g.withoutDevices()
	offered(false)
	if after := g.do("GET", metadataAddress, ""); after.header.Get("ETag") == before {
		t.Error("another document with the same ETag")
	}
	g.want(g.token(d.redeem()), 400, "unsupported_grant_type") // also of a device that began before
	if p := g.browser().get(deviceAddress); p.status != 200 {
		t.Errorf("the page: %d", p.status)
	}
	g.addDevices()
	offered(true)
	g.want(g.token(d.redeem()), 400, "authorization_pending")
}

// unsurveyed are clients of which it is not known yet what they have.
type unsurveyed struct{ *rigClients }

func (unsurveyed) OptionalGrants() []oauth.GrantType { return nil }

func TestNewClientUsesDeviceGrantBeforeItIsAdvertised(t *testing.T) {
	g := newDeviceRig(t, func(c *authserver.Config) { c.Clients = unsurveyed{c.Clients.(*rigClients)} })
	d := g.device(nil)
	g.want(g.token(d.redeem()), 400, "authorization_pending")
	g.decide(g.browser(), d, "confirm")
	g.want(g.token(d.redeem()), 200, "")
}

func TestVariantBClientCannotUseDeviceFlow(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(nil)
	g.clients.change("tv", func(c *oauth.Client) { c.VariantB = true })
	g.want(g.askDevice(params{"client_id": "tv"}), 400, "unauthorized_client")
	g.want(g.token(d.redeem()), 400, "unauthorized_client")
	b := g.browser()
	login := b.get(d.Complete)
	p := b.submit(b.follow(b.signIn(login, "ann", annsPassword)), "user_code", d.UserCode)
	g.isError(b.get("https://id.example"+p.header.Get("Location")), 410)
	if n := g.count(store.KindCode); n != 0 {
		t.Errorf("%d codes", n)
	}
}
