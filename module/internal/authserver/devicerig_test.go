package authserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	deviceGrant   = "urn:ietf:params:oauth:grant-type:device_code"
	deviceAddress = tokenIssuer + "/device"
	confirmPrefix = "/auth/connect/confirm?uuid="
)

// begun is what a device is told.
type begun struct {
	DeviceCode string `json:"device_code"`
	UserCode   string `json:"user_code"`
	URI        string `json:"verification_uri"`
	Complete   string `json:"verification_uri_complete"`
	Expires    int    `json:"expires_in"`
	Interval   int    `json:"interval"`
}

// newDeviceRig has a device without a secret, tv, and one with: box.
func newDeviceRig(t *testing.T, change ...func(*authserver.Config)) *tokenRig {
	t.Helper()
	g := newBrowserRig(t, change...)
	g.addDevices()
	return g
}

func (g *tokenRig) addDevices() {
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	grants := []oauth.GrantType{oauth.DeviceCode, oauth.RefreshToken}
	rw := []string{"openid", "read", "write"}
	g.clients.all["tv"] = &oauth.Client{ID: "tv", Name: "Living room", Public: true, Grants: grants, Scopes: rw, DefaultScopes: []string{"read"}}
	g.clients.all["box"] = &oauth.Client{ID: "box", SecretHashes: []string{secret.Digest(webSecret)}, Grants: grants[:1], Scopes: rw,
		Audience: []string{"https://api.example", "https://other.example"}}
}

func (g *tokenRig) askDevice(p params) answer {
	return g.do(http.MethodPost, tokenIssuer+"/device_authorization", p.encode(), "User-Agent", "TV/1.0")
}

// device begins as tv, or whom p names.
func (g *tokenRig) device(p params) begun {
	g.t.Helper()
	if p["client_id"] == "" {
		p = p.with("client_id", "tv")
	}
	return begunFrom(g, g.want(g.askDevice(p), http.StatusOK, ""))
}

func begunFrom(g *tokenRig, a answer) (d begun) {
	g.t.Helper()
	g.must(json.Unmarshal([]byte(a.body), &d))
	return d
}

func (d begun) redeem() params {
	return params{"grant_type": deviceGrant, "device_code": d.DeviceCode, "client_id": "tv"}
}

// devicePage goes as ann as far as the page that asks whether to confirm.
func (b *tab) devicePage(d begun) page {
	b.g.t.Helper()
	p := b.get(d.Complete)
	if strings.Contains(p.body, `type="password"`) {
		p = b.follow(b.signIn(p, "ann", annsPassword))
	}
	return b.follow(b.submit(p, "user_code", d.UserCode))
}

// follow goes where one of our pages leads, which is within our own.
func (b *tab) follow(p page) page {
	b.g.t.Helper()
	to := p.header.Get("Location")
	if p.status != http.StatusSeeOther || !strings.HasPrefix(to, "/auth/") {
		b.g.t.Fatalf("no redirect to a page of ours: %d %q %s", p.status, to, p.body)
	}
	return b.get("https://id.example" + to)
}

// decide answers for ann with confirm or deny.
func (g *tokenRig) decide(b *tab, d begun, decision string) page {
	g.t.Helper()
	done := b.submit(b.devicePage(d), "decision", decision)
	if done.status != http.StatusOK || strings.Contains(done.body, `name="decision"`) {
		g.t.Fatalf("the answer came to %d %s", done.status, done.body)
	}
	return done
}

// confirmedDevice is a device_code of client that ann has confirmed.
func (g *tokenRig) confirmedDevice(client, key string) string {
	g.t.Helper()
	d := g.device(params{"client_id": client, "client_secret": key, "scope": "read"})
	g.decide(g.browser(), d, "confirm")
	return d.DeviceCode
}

// uuid is the ticket in the redirect to the confirm page.
func uuid(p page) string {
	u, err := url.Parse(p.header.Get("Location"))
	if err != nil || !strings.HasPrefix(p.header.Get("Location"), confirmPrefix) {
		return ""
	}
	return u.Query().Get("uuid")
}

// count is how many records of ann there are.
func (g *tokenRig) count(kind store.Kind) int {
	g.t.Helper()
	if kind == store.KindCode {
		return len(codesOf(g.t, g.store.Memory, "u1"))
	}
	all, err := g.store.Memory.List(g.t.Context(), kind, "u1", "", 1000)
	g.must(err)
	return len(all)
}
