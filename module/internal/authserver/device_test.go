package authserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestDeviceSignsInByTypedCode(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(params{"scope": "openid read"})
	if !regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`).MatchString(d.UserCode) || len(d.DeviceCode) != 66 ||
		d.URI != deviceAddress || d.Complete != deviceAddress+"?user_code="+d.UserCode || d.Expires != 600 || d.Interval != 5 {
		t.Fatalf("%+v", d)
	}
	g.want(g.token(d.redeem()), 400, "authorization_pending")
	b := g.browser()
	asked := b.devicePage(d)
	for _, want := range []string{"Living room", d.UserCode, "192.0.2.1", "ann", "Read"} {
		if !strings.Contains(asked.body, want) {
			t.Errorf("the page does not say %s: %s", want, asked.body)
		}
	}
	g.pass(5 * time.Second)
	g.want(g.token(d.redeem()), 400, "authorization_pending") // seen, not allowed
	b.submit(asked, "decision", "confirm")
	got := g.want(g.token(d.redeem()), 200, "")
	if got.tokens.Scope != "openid read" || got.tokens.Refresh == "" || !strings.Contains(got.body, `"id_token"`) || !g.alive(got.tokens.Access) {
		t.Errorf("%s", got.body)
	}
	again := g.want(g.token(params{"grant_type": "refresh_token", "refresh_token": got.tokens.Refresh, "client_id": "tv"}), 200, "")
	if !g.alive(again.tokens.Access) {
		t.Error("the refreshed token is dead")
	}
}

func TestDeniedDeviceGetsNoTokens(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(nil)
	g.decide(g.browser(), d, "deny")
	for range 3 {
		g.want(g.token(d.redeem()), 400, "access_denied")
	}
	g.pass(15 * time.Minute)
	g.want(g.token(d.redeem()), 400, "access_denied")
}

func TestDeviceCodeExpiresAfterTenMinutes(t *testing.T) {
	g := newDeviceRig(t)
	pending, scanned, confirmed := g.device(nil), g.device(nil), g.device(nil)
	b := g.browser()
	asked := b.devicePage(scanned)
	g.decide(b, confirmed, "confirm")
	g.pass(10*time.Minute - time.Second)
	g.want(g.token(pending.redeem()), 400, "authorization_pending")
	g.pass(time.Second)
	for name, d := range map[string]begun{"pending": pending, "scanned": scanned, "confirmed": confirmed} {
		t.Run(name, func(*testing.T) { g.want(g.token(d.redeem()), 400, "expired_token") })
	}
	if late := b.submit(asked, "decision", "confirm"); late.status != http.StatusGone {
		t.Errorf("confirmed too late: %d", late.status)
	}
	g.want(g.token(scanned.redeem()), 400, "expired_token")
	g.pass(10 * time.Minute)
	g.want(g.token(pending.redeem()), 400, "invalid_grant")
}

func TestDeviceCodeIsBoundToItsClient(t *testing.T) {
	g := newDeviceRig(t)
	// Nor is anybody else told how it stands.
	waiting, denied := g.device(nil), g.device(nil)
	g.decide(g.browser(), denied, "deny")
	for _, d := range []begun{waiting, denied} {
		g.want(g.token(d.redeem().with("client_id", "box").with("client_secret", webSecret)), 400, "invalid_grant")
		g.want(g.token(d.redeem().with("device_code", d.DeviceCode[:len(d.DeviceCode)-1])), 400, "invalid_grant")
	}
	d := g.device(nil)
	g.decide(g.browser(), d, "confirm")
	box := params{"client_id": "box", "client_secret": webSecret, "scope": "read"}
	id, key, _ := strings.Cut(d.DeviceCode, ".")
	for name, p := range map[string]params{
		"another client's":           d.redeem().with("client_id", "box").with("client_secret", webSecret),
		"a client without the grant": d.redeem().with("client_id", "app"),
		"the ticket alone":           d.redeem().with("device_code", id),
		"the ticket and a dot":       d.redeem().with("device_code", id+"."),
		"the secret alone":           d.redeem().with("device_code", key),
		"the secret of another":      d.redeem().with("device_code", id+"."+strings.Split(g.device(box).DeviceCode, ".")[1]),
		"another case":               d.redeem().with("device_code", strings.ToUpper(d.DeviceCode)),
		"something behind it":        d.redeem().with("device_code", d.DeviceCode+"."),
		"a long one":                 d.redeem().with("device_code", d.DeviceCode+strings.Repeat("x", 10_000)),
		"the user's code":            d.redeem().with("device_code", d.UserCode),
	} {
		t.Run(name, func(*testing.T) {
			want := "invalid_grant"
			if name == "a client without the grant" {
				want = "unauthorized_client"
			}
			g.want(g.token(p), 400, want)
		})
	}
	// Neither half is a code of another grant.
	for _, code := range []string{d.DeviceCode, key, id} {
		g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
		g.want(g.token(redeemApp(code)), 400, "invalid_grant")
	}
	g.want(g.token(d.redeem()), 200, "")
}

func TestDeviceCodeIsRedeemedOnce(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(nil)
	g.decide(g.browser(), d, "confirm")
	var issued []answer
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			if a := g.token(d.redeem()); a.status == 200 {
				mu.Lock()
				defer mu.Unlock()
				issued = append(issued, a)
			}
		})
	}
	all.Wait()
	if len(issued) != 1 {
		t.Fatalf("%d were issued", len(issued))
	}
	// Those that came later were replays, which end what was issued.
	g.want(g.token(d.redeem()), 400, "invalid_grant")
	if g.alive(issued[0].tokens.Access) {
		t.Error("a replay leaves the token alive")
	}
}

func TestFastPollingDeviceIsSlowedDown(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(nil)
	for i, step := range []struct {
		after time.Duration
		want  string
	}{
		{0, "authorization_pending"},
		{5 * time.Second, "authorization_pending"},
		{4 * time.Second, "authorization_pending"}, // the network was faster this time
		{time.Second, "slow_down"},
		{5 * time.Second, "slow_down"}, // ten seconds by now, and fifteen after this
		{14 * time.Second, "authorization_pending"},
		{15 * time.Second, "authorization_pending"},
	} {
		g.pass(step.after)
		if a := g.token(d.redeem()); a.status != 400 || a.tokens.Error != step.want {
			t.Fatalf("poll %d: %d %s, want %s", i, a.status, a.tokens.Error, step.want)
		}
	}
	g.want(g.token(d.redeem()), 400, "slow_down")
	g.decide(g.browser(), d, "confirm")
	g.want(g.token(d.redeem()), 200, "") // what there is to have is not held back
}

func TestDeviceAuthorizationAccessControl(t *testing.T) {
	g := newDeviceRig(t)
	tv, box := params{"client_id": "tv"}, params{"client_id": "box", "client_secret": webSecret, "scope": "read"}
	for _, c := range []struct {
		name   string
		p      params
		status int
		code   string
	}{
		{"nobody", params{"scope": "read"}, 401, "invalid_client"},
		{"an unknown client", params{"client_id": "x"}, 401, "invalid_client"},
		{"a wrong secret", box.with("client_secret", "wrong"), 401, "invalid_client"},
		{"no secret", box.with("client_secret", ""), 401, "invalid_client"},
		{"a client without the grant", params{"client_id": "app", "scope": "read"}, 400, "unauthorized_client"},
		{"an unknown scope", tv.with("scope", "x"), 400, "invalid_scope"},
		{"no scope and no default", box.with("scope", ""), 400, "invalid_scope"},
		{"a resource that is not the client's", tv.with("resource", "https://x.example"), 400, "invalid_target"},
		{"a challenge without method", tv.with("code_challenge", oauth.Challenge(verifier)), 400, "invalid_request"},
		{"a plain challenge", tv.with("code_challenge", oauth.Challenge(verifier)).with("code_challenge_method", "plain"), 400, "invalid_request"},
		{"a method without challenge", tv.with("code_challenge_method", "S256"), 400, "invalid_request"},
		{"the default scope", tv, 200, ""},
		{"a confidential client", box, 200, ""},
		{"a resource of the client", box.with("resource", "https://other.example"), 200, ""},
	} {
		t.Run(c.name, func(*testing.T) { g.want(g.askDevice(c.p), c.status, c.code) })
	}
	for _, a := range []answer{
		g.do("POST", tokenIssuer+"/device_authorization?client_id=tv", ""),
		g.do("POST", tokenIssuer+"/device_authorization", "client_id=tv&client_id=tv"),
		g.do("POST", tokenIssuer+"/device_authorization", "client_id=tv&scope=read&scope=write"),
	} {
		g.want(a, 400, "invalid_request")
	}
	g.want(g.do("GET", tokenIssuer+"/device_authorization", ""), 405, "invalid_request")
}

func TestDeviceFlowSupportsResourceAndPKCE(t *testing.T) {
	g := newDeviceRig(t)
	p := params{"client_id": "box", "client_secret": webSecret, "scope": "read", "resource": "https://other.example",
		"code_challenge": oauth.Challenge(verifier), "code_challenge_method": "S256"}
	d := g.device(p)
	g.decide(g.browser(), d, "confirm")
	redeem := d.redeem().with("client_id", "box").with("client_secret", webSecret)
	g.want(g.token(redeem), 400, "invalid_grant")
	g.want(g.token(redeem.with("code_verifier", strings.Repeat("x", 43))), 400, "invalid_grant")
	a := g.want(g.token(redeem.with("code_verifier", verifier)), 200, "")
	access, err := g.verifier.Verify(t.Context(), a.tokens.Access)
	if err != nil || len(access.Audience) != 1 || access.Audience[0] != "https://other.example" {
		t.Errorf("%+v, %v", access, err)
	}
	if a.tokens.Refresh != "" { // box has no refresh_token grant
		t.Errorf("%s", a.body)
	}
}

// B28
func TestPublicDeviceRequestsAreLimited(t *testing.T) {
	g := newDeviceRig(t)
	for range 20 {
		g.device(nil)
	}
	before := g.store.Len()
	for range 1000 {
		if a := g.want(g.askDevice(params{"client_id": "tv"}), 429, "slow_down"); a.header.Get("Retry-After") == "" {
			t.Fatal("no Retry-After")
		}
	}
	if n := g.store.Len() - before; n != 0 {
		t.Errorf("%d records more", n)
	}
	g.device(params{"client_id": "box", "client_secret": webSecret, "scope": "read"}) // who authenticates is not limited
	limited := 0
	for i := range 600 {
		g.from(fmt.Sprintf("198.51.%d.%d", i/200, 1+i%200))
		if g.askDevice(params{"client_id": "tv"}).status == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited != 16 { // of the last twenty, all of one /24, four are newcomers enough
		t.Errorf("%d were limited beyond the 600 of all addresses, want 16", limited)
	}
	g.pass(time.Minute)
	g.device(nil)
}

func TestStoreFaultsAreErrorsForADevice(t *testing.T) {
	g := newDeviceRig(t)
	away := errors.New("away")
	d := g.device(nil)
	g.store.plan(1, 100, false, away)
	g.want(g.askDevice(params{"client_id": "tv"}), 503, "temporarily_unavailable")
	g.want(g.token(d.redeem()), 503, "temporarily_unavailable")
	g.store.plan(0, 0, false, nil)
	b := g.browser()
	asked := b.devicePage(d)
	g.store.plan(1, 100, false, away)
	g.isError(b.submit(asked, "decision", "confirm"), http.StatusServiceUnavailable)
	g.want(g.token(d.redeem()), 503, "temporarily_unavailable")
	g.store.plan(0, 0, false, nil)
	g.pass(time.Minute)
	g.want(g.token(d.redeem()), 400, "authorization_pending")
	b.submit(asked, "decision", "confirm")
	g.want(g.token(d.redeem()), 200, "")
}

// Whichever operation of a confirmation fails, before or after it takes effect: the person
// can say it again, and the device gets one family.
func TestConfirmationCanBeRepeatedAfterALostWrite(t *testing.T) {
	for n := 1; n <= 14; n++ {
		for _, after := range []bool{false, true} {
			g := newDeviceRig(t)
			d, b := g.device(nil), g.browser()
			asked := b.devicePage(d)
			g.store.plan(n, n, after, errors.New("away"))
			b.submit(asked, "decision", "confirm")
			g.store.plan(0, 0, false, nil)
			b.submit(asked, "decision", "confirm")
			g.want(g.token(d.redeem()), 200, "")
			grants, err := g.store.List(t.Context(), store.KindGrant, "u1", "", 10)
			if err != nil || len(grants) != 1 {
				t.Errorf("operation %d, after %t: %d families, %v", n, after, len(grants), err)
			}
		}
	}
}
