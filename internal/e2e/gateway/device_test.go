package gateway

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// offersDevices reports whether both documents offer the grant, and fails when they differ
// or offer half of it.
func offersDevices(t *testing.T, g *harness.Gateway) bool {
	t.Helper()
	m, all := readMetadata(t, g.ID+metadataPath)
	offered := slices.Contains(m.Grants, deviceGrant)
	if endpoint, has := all["device_authorization_endpoint"]; has != offered || has && endpoint != g.ID+"/device_authorization" {
		t.Errorf("grants %v and the endpoint %v", m.Grants, endpoint)
	}
	for tries := 1; ; tries++ {
		a, b := harness.NewBrowser(t, "").Get(g.ID+metadataPath), harness.NewBrowser(t, "").Get(g.ID+discoveryPath)
		switch {
		case a.Body == b.Body:
			return offered
		case tries == 3: // a client can come or go between two of them, and then not again
			t.Errorf("the documents differ: %s %s", a.Body, b.Body)
			return offered
		}
	}
}

// M02, M08: whatever is advertised works for who has it, and for nobody is it known else.
func TestDeviceFlowIsAdvertisedOnlyIfAClientHasIt(t *testing.T) {
	ask := url.Values{"grant_type": {deviceGrant}, "device_code": {"x"}}
	t.Run("no client has them", func(t *testing.T) {
		g, _ := start(t)
		if offersDevices(t, g) {
			t.Error("offered")
		}
		wantOAuth(t, at(t, g, "/token", web, ask), http.StatusBadRequest, "unsupported_grant_type")
		wantOAuth(t, at(t, g, "/device_authorization", web, url.Values{"scope": {"read"}}), http.StatusBadRequest, "unsupported_grant_type")
	})
	t.Run("a configured client has them, until a reload without it", func(t *testing.T) {
		g := deviceSite(t)
		if !offersDevices(t, g) {
			t.Error("not offered")
		}
		wantOAuth(t, at(t, g, "/token", web, ask), http.StatusBadRequest, "unauthorized_client")
		wantOAuth(t, at(t, g, "/device_authorization", web, url.Values{"scope": {"read"}}), http.StatusBadRequest, "unauthorized_client")
		wantOAuth(t, at(t, g, "/token", tv, ask), http.StatusBadRequest, "invalid_grant")
		phone, d := phoneOf(t, g, username), newDevice(t, g, tv)
		d.decide(phone, "confirm")
		g.Load(t, strings.Replace(behindProxy, "$GLOBAL", "", 1))
		if offersDevices(t, g) {
			t.Error("still offered")
		}
		wantOAuth(t, d.poll(), http.StatusUnauthorized, "invalid_client")
	})
	t.Run("a client is made in the store, and goes", func(t *testing.T) {
		g, _, memory := startFaulty(t)
		elsewhere, err := gatewaytest.NewClients(memory)
		if err != nil {
			t.Fatal(err)
		}
		if offersDevices(t, g) {
			t.Error("offered")
		}
		if _, _, err := elsewhere.Create(t.Context(), gatewaytest.Client{Client: oauth.Client{ID: "tv", Public: true, Scopes: []string{"read"}, Grants: []oauth.GrantType{"device_code"}}}); err != nil {
			t.Fatal(err)
		}
		phone := phoneOf(t, g, username)
		d := newDevice(t, g, tv) // at once
		d.decide(phone, "confirm")
		access, _ := wantTokens(t, d.poll())
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		within(t, 5*time.Second, "offered", func() bool { return offersDevices(t, g) })
		if err := elsewhere.Delete(t.Context(), "tv"); err != nil {
			t.Fatal(err)
		}
		wantDead(t, g, access)
		within(t, 5*time.Second, "no longer offered", func() bool { return !offersDevices(t, g) })
		wantOAuth(t, at(t, g, "/token", web, ask), http.StatusBadRequest, "unsupported_grant_type")
	})
}

// within waits until something is so.
func within(t *testing.T, limit time.Duration, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !so(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not %s after %v", what, limit)
		}
	}
}

func TestDeviceSignsIn(t *testing.T) {
	g := deviceSite(t)
	phone := phoneOf(t, g, username)
	t.Run("a public client with OpenID Connect", func(t *testing.T) {
		d := newDevice(t, g, tv, "scope", "openid read")
		wantOAuth(t, d.poll(), http.StatusBadRequest, "authorization_pending")
		page := d.asks(phone)
		for _, want := range []string{"Living room", d.user, "alice", "Read"} {
			if !strings.Contains(page.Body, want) {
				t.Errorf("the page does not say %s: %s", want, page.Body)
			}
		}
		wantOAuth(t, d.poll(), http.StatusBadRequest, "slow_down")
		d.decide(phone, "confirm")
		p := d.poll()
		access, refresh := wantTokens(t, p)
		id, _ := p.JSON(t)["id_token"].(string)
		if c := claimsOf(t, id); c["sub"] != "u-1" || c["aud"] != "tv" && !slices.Equal(c["aud"].([]any), []any{"tv"}) || c["auth_time"] == nil || c["at_hash"] == nil || c["nonce"] != nil {
			t.Errorf("%v", c)
		}
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		wantTokens(t, at(t, g, "/token", tv, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}))
		wantOAuth(t, d.poll(), http.StatusBadRequest, "invalid_grant")
		wantDead(t, g, access)
		wantOAuth(t, at(t, g, "/token", tv, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}), http.StatusBadRequest, "invalid_grant")
	})
	t.Run("a client with a secret, which has no refresh tokens", func(t *testing.T) {
		d := newDevice(t, g, box, "scope", "read write")
		d.decide(phone, "confirm")
		wantOAuth(t, at(t, g, "/token", harness.Credentials{ID: "box"}, d.form(), "X-Forwarded-For", somebody()), http.StatusUnauthorized, "invalid_client")
		wantOAuth(t, at(t, g, "/token", tv, d.form()), http.StatusBadRequest, "invalid_grant")
		p := d.poll()
		if m := p.JSON(t); p.Status != http.StatusOK || m["refresh_token"] != nil || m["scope"] != "read write" || m["id_token"] != nil {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	})
	t.Run("denied", func(t *testing.T) {
		d := newDevice(t, g, tv)
		d.decide(phone, "deny")
		wantOAuth(t, d.poll(), http.StatusBadRequest, "access_denied")
	})
	t.Run("64 at once", func(t *testing.T) {
		d := newDevice(t, g, box)
		d.decide(phone, "confirm")
		count := map[int]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				p := d.poll()
				mu.Lock()
				defer mu.Unlock()
				count[p.Status]++
			})
		}
		all.Wait()
		if count[http.StatusOK] != 1 || count[http.StatusBadRequest] != 63 {
			t.Errorf("%v", count)
		}
	})
	t.Run("it outlives a reload and a restart", func(t *testing.T) {
		d := newDevice(t, g, tv)
		page := d.asks(phone)
		site := strings.Replace(behindProxy, "$GLOBAL", deviceClients, 1)
		g.Load(t, "{\n"+harness.Quiet+"\n}\n") // all of it stops, the store is closed
		g.Load(t, site)
		wantPage(t, phone.Submit(page, url.Values{"decision": {"confirm"}}), http.StatusOK)
		g.Load(t, "{\n"+harness.Quiet+"\n}\n")
		g.Load(t, site)
		wantTokens(t, d.poll())
	})
}

// B27, B28 by the wire.
func TestDeviceCodeGuessesAndFloodsAreLimited(t *testing.T) {
	g := deviceSite(t)
	phone, from := phoneOf(t, g, username), somebody()
	page := phone.Get(g.ID + "/device")
	action, fields := harness.Form(t, page)
	judged := 0
	for range 200 {
		fields.Set("user_code", "BBBB-BBBB")
		p := send(t, phone, http.MethodPost, action, fields.Encode(), "Origin", g.ID, "X-Forwarded-For", from)
		switch {
		case p.Status == http.StatusNotFound:
			judged++
		case p.Status != http.StatusTooManyRequests || p.Header.Get("Retry-After") == "":
			t.Fatalf("%d %s", p.Status, p.Body)
		}
	}
	if judged != 10 {
		t.Errorf("%d guesses were judged", judged)
	}
	made := 0
	for range 200 {
		switch p := beginDevice(t, g, tv, url.Values{}, "X-Forwarded-For", from); p.Status {
		case http.StatusOK:
			made++
		case http.StatusTooManyRequests:
			wantOAuth(t, p, http.StatusTooManyRequests, "slow_down")
		default:
			t.Fatalf("%d %s", p.Status, p.Body)
		}
	}
	if made != 20 {
		t.Errorf("%d began", made)
	}
}

func TestLogsHaveNoDeviceCode(t *testing.T) { // B33, E18
	g := logged(t, "$GLOBAL", deviceClients)
	d := newDevice(t, g, tv)
	phone := phoneOf(t, g, username)
	phone.Get(d.enterAt)
	harness.NewBrowser(t, g.ID).Get(d.enterAt)
	d.poll()
	d.decide(phone, "confirm")
	access, refresh := wantTokens(t, d.poll())
	d.poll()
	send(t, harness.NewBrowser(t, ""), http.MethodPost, g.ID+"/token?"+d.form().Encode(), "")
	lines(t, g, "id.log", 8)
	id, key, _ := strings.Cut(d.code, ".")
	secrets := map[string]string{
		"the ticket": id, "the secret": key, "the short code": d.user, "the short code without dash": strings.ReplaceAll(d.user, "-", ""),
		"the access token": access, "the refresh token": refresh,
	}
	for _, name := range []string{"id.log", "default.log"} {
		raw, err := os.ReadFile(filepath.Join(g.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "id.log" && !strings.Contains(string(raw), "/device?user_code=REDACTED") {
			t.Error("the page for codes is not in the log")
		}
		for line := range strings.Lines(string(raw)) {
			for what, value := range secrets {
				if strings.Contains(line, value) {
					t.Errorf("%s is in %s: %s", what, name, line)
				}
			}
		}
	}
}
