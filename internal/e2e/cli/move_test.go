package cli

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// patientSite has codes that outlive a restart on a slow machine.
var patientSite = strings.Replace(site, "audience https://api.example", "audience https://api.example\n\t\t\tcode 10m", 1)

func runPatient(t *testing.T) (*harness.Gateway, *harness.Process) {
	t.Helper()
	g := harness.Prepare(t, "$UPSTREAM", harness.NewUpstream(t).Addr, "$GLOBAL", "", "$GUARD", "")
	return g, g.Run(t, patientSite)
}

// question is an authorization request of the client web.
func question(g *harness.Gateway) string {
	return g.ID + "/authorize?" + url.Values{
		"client_id": {"web"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}.Encode()
}

// redeem exchanges a code.
func redeem(t *testing.T, g *harness.Gateway, code string) harness.Page {
	t.Helper()
	return g.Token(t, web, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {harness.Verifier}})
}

func tokenOf(t *testing.T, p harness.Page, name string) string {
	t.Helper()
	s, _ := p.JSON(t)[name].(string)
	if p.Status != http.StatusOK || s == "" {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	return s
}

// movedSite is the site after a move.
func movedSite(url string) string {
	return strings.Replace(patientSite, "store bolt $DIR/state.db", "store redis "+url+"\n\t\tsecret {file.$DIR/state.db.secret}", 1)
}

func TestMoveWaitsForASlowRedis(t *testing.T) {
	g, p := runPatient(t)
	p.Stop()
	slow := redistest.NewProxy(t, redistest.Start(t).Addr)
	slow.Latency(300 * time.Millisecond)
	if r := offline(t, g, "move", "--to", slow.URL()); r.code != 0 || !strings.Contains(r.out, "Moved ") {
		t.Errorf("%+v", r)
	}
}

func TestEverythingWorksAfterMovingToRedis(t *testing.T) {
	server := redistest.Start(t)
	g, p := runPatient(t)
	addUser(t, g)
	b := harness.NewBrowser(t, g.ID)
	used := b.Authorize(question(g), "alice", password).Query().Get("code")
	kept := redeem(t, g, used)
	access, refreshToken := tokenOf(t, kept, "access_token"), tokenOf(t, kept, "refresh_token")
	revoked, revokedRefresh := granted(t, g, harness.NewBrowser(t, g.ID), "alice")
	if s := g.Call(t, "GET", "/read", revoked).Status; s != http.StatusOK {
		t.Fatalf("%d", s)
	}
	form := url.Values{"token": {revokedRefresh}, "client_id": {web.ID}, "client_secret": {web.Secret}}
	if a := harness.Send(t, http.DefaultClient, "POST", g.ID+"/revoke", form.Encode(), "Content-Type", "application/x-www-form-urlencoded"); a.Status != http.StatusOK {
		t.Fatalf("revoking: %d %s", a.Status, a.Body)
	}
	// A code that is being redeemed as the gateway stops.
	pending := b.Get(question(g)).Location(t).Query().Get("code")
	if pending == "" {
		t.Fatal("the consent is not remembered before the move")
	}
	if r := offline(t, g, "move", "--to", server.URL()); r.code != 1 || !strings.Contains(r.err, "Stop the gateway first") {
		t.Errorf("with a running gateway: %+v", r)
	}
	p.Stop()
	r := offline(t, g, "move", "--to", server.URL())
	if r.code != 0 || !strings.Contains(r.out, "Moved ") || !strings.Contains(r.out, "secret {file."+g.Dir+"/state.db.secret}") {
		t.Fatalf("%+v", r)
	}
	if r := offline(t, g, "move", "--to", server.URL()); r.code != 1 || !strings.Contains(r.err, "it has records already") {
		t.Errorf("a second time: %+v", r)
	}

	g.Run(t, movedSite(server.URL()))
	if !signedIn(t, g, b) {
		t.Error("the session is over")
	}
	if again := b.Get(question(g)); again.Status/100 != 3 || again.Location(t).Query().Get("code") == "" {
		t.Errorf("the consent is asked for again: %d", again.Status)
	}
	if s := g.Call(t, "GET", "/read", access).Status; s != http.StatusOK {
		t.Errorf("the access token: %d", s)
	}
	if s := g.Call(t, "GET", "/read", revoked).Status; s != http.StatusUnauthorized {
		t.Errorf("the revoked access token: %d", s)
	}
	if s := refresh(t, g, revokedRefresh); s != http.StatusBadRequest {
		t.Errorf("the revoked refresh token: %d", s)
	}
	if s := refresh(t, g, refreshToken); s != http.StatusOK {
		t.Errorf("the refresh token: %d", s)
	}
	if a := redeem(t, g, pending); a.Status != http.StatusOK {
		t.Errorf("a code from before the move: %d %s", a.Status, a.Body)
	}
	if a := redeem(t, g, used); a.Status != http.StatusBadRequest {
		t.Errorf("the used code: %d %s", a.Status, a.Body)
	}
	if out := done(t, g, "", "grant", "list", "alice"); !strings.Contains(out, "web") {
		t.Errorf("the grants are not found by their user: %s", out)
	}
}

func TestStoreMoveIsRefusedBeforeWriting(t *testing.T) {
	server := redistest.Start(t)
	t.Setenv("OTHER_SECRET", strings.Repeat("other", 10))
	g, p, _ := runSite(t)
	addUser(t, g)
	granted(t, g, harness.NewBrowser(t, g.ID), "alice")
	p.Stop()
	config := func(old, with string) string {
		return g.WriteFile(t, "new.caddyfile", g.Text(strings.Replace(movedSite(server.URL()), old, with, 1)))
	}
	for name, c := range map[string]struct {
		words []string
		want  string
	}{
		"no target":                 {nil, "--to"},
		"two targets":               {[]string{"--to", server.URL(), "--to-config", "x"}, "either"},
		"a password as an argument": {[]string{"--to", "redis://gate:hunter2@" + server.Addr + "/0"}, "placeholder"},
		"an unset password":         {[]string{"--to", "redis://gate:{env.NOT_SET_HERE}@" + server.Addr + "/0"}, "NOT_SET_HERE"},
		"another program's port":    {[]string{"--to", "redis://" + strings.TrimPrefix(g.API, "http://") + "/0"}, "redis"},
		"no Redis":                  {[]string{"--to-config", g.WriteFile(t, "old.caddyfile", g.Text(site))}, "expected `store redis`"},
		"another secret":            {[]string{"--to-config", config("{file.$DIR/state.db.secret}", "{env.OTHER_SECRET}")}, "encrypted with another one"},
	} {
		r := offline(t, g, append([]string{"move"}, c.words...)...)
		if r.code == 0 || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "hunter2") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if keys := server.CLI("DBSIZE"); strings.TrimSpace(keys) != "0" {
		t.Errorf("%s keys were written", keys)
	}
	if r := offline(t, g, "move", "--to-config", config("prefix", "prefix")); r.code != 0 || strings.Contains(r.out, "On every node") {
		t.Errorf("with the new configuration: %+v", r)
	}
}
