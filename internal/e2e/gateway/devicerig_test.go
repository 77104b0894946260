package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	deviceGrant   = "urn:ietf:params:oauth:grant-type:device_code"
	deviceClients = `client tv {
			name "Living room"
			public
			grants device_code refresh_token
			scopes openid read
			default_scopes read
		}
		client box {
			secret box-secret-0123456789-0123456789-0123456789
			grants device_code
			scopes read write
		}
		`
)

var (
	tv  = harness.Credentials{ID: "tv"}
	box = harness.Credentials{ID: "box", Secret: "box-secret-0123456789-0123456789-0123456789"}
)

// deviceSite is the site with two devices, behind a proxy.
func deviceSite(t *testing.T, more ...string) *harness.Gateway {
	t.Helper()
	g, _ := startSite(t, behindProxy, append([]string{"$GLOBAL", deviceClients}, more...)...)
	return g
}

// begun is what a device was told.
type begun struct {
	t                          *testing.T
	g                          *harness.Gateway
	by                         harness.Credentials
	code, user, entry, enterAt string
}

func beginDevice(t *testing.T, g *harness.Gateway, c harness.Credentials, form url.Values, header ...string) harness.Page {
	t.Helper()
	return at(t, g, "/device_authorization", c, form, append([]string{"X-Forwarded-For", somebody(), "User-Agent", "TV/1.0"}, header...)...)
}

// newDevice begins as c for the scope read, or what more says.
func newDevice(t *testing.T, g *harness.Gateway, c harness.Credentials, more ...string) begun {
	t.Helper()
	form := url.Values{"scope": {"read"}}
	for i := 0; i+1 < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	p := beginDevice(t, g, c, form)
	if p.Status != http.StatusOK || p.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(p.Header.Get("Content-Type"), "application/json") {
		t.Fatalf("%d %v %s", p.Status, p.Header, p.Body)
	}
	m := p.JSON(t)
	text := func(name string) string { s, _ := m[name].(string); return s }
	d := begun{t: t, g: g, by: c, code: text("device_code"), user: text("user_code"), entry: text("verification_uri"), enterAt: text("verification_uri_complete")}
	if len(m) != 6 || m["expires_in"] != 600.0 || m["interval"] != 5.0 || d.entry != g.ID+"/device" || d.enterAt != d.entry+"?user_code="+d.user {
		t.Fatalf("%s", p.Body)
	}
	return d
}

func (d begun) form() url.Values {
	return url.Values{"grant_type": {deviceGrant}, "device_code": {d.code}}
}

func (d begun) poll() harness.Page {
	d.t.Helper()
	return at(d.t, d.g, "/token", d.by, d.form())
}

// asks is the page that asks the owner of a browser, who is signed in, about the device.
func (d begun) asks(phone *harness.Browser) harness.Page {
	d.t.Helper()
	p := phone.Submit(phone.Get(d.entry), url.Values{"user_code": {d.user}})
	if p.Status != http.StatusSeeOther {
		d.t.Fatalf("%d %.1000s", p.Status, p.Body)
	}
	p = phone.Get(p.URL.ResolveReference(p.Location(d.t)).String())
	wantPage(d.t, p, http.StatusOK)
	return p
}

func (d begun) decide(phone *harness.Browser, decision string) {
	d.t.Helper()
	p := phone.Submit(d.asks(phone), url.Values{"decision": {decision}})
	wantPage(d.t, p, http.StatusOK)
	if strings.Contains(p.Body, "<form method") {
		d.t.Fatalf("not decided: %s", p.Body)
	}
}
