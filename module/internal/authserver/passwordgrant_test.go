package authserver_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// newPasswordRig has a client "till" that may use passwords for a year.
func newPasswordRig(t *testing.T, change ...func(*authserver.Config)) *tokenRig {
	g := newBrowserRig(t, change...)
	g.clients.change("job", func(c *oauth.Client) {
		c.ID, c.DefaultScopes = "till", []string{"read"}
		c.Grants = []oauth.GrantType{oauth.Password, oauth.RefreshToken}
		c.Until = map[oauth.GrantType]time.Time{oauth.Password: g.now().Add(365 * 24 * time.Hour)}
	})
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	g.clients.all["till"] = g.clients.all["job"]
	delete(g.clients.all, "job")
	return g
}

func passwordOf(username, password string) params {
	return params{"grant_type": "password", "username": username, "password": password, "client_id": "till", "client_secret": webSecret}
}

func TestPasswordGrantIsOffUnlessAClientHasIt(t *testing.T) { // P01
	g := newBrowserRig(t)
	p := passwordOf("ann", annsPassword).with("client_id", "web")
	g.want(g.token(p), 400, "unsupported_grant_type")
	g = newPasswordRig(t)
	g.want(g.token(p), 400, "unauthorized_client") // not this client
	g.clients.change("web", func(c *oauth.Client) { c.Grants = append(slices.Clone(c.Grants), oauth.Password) })
	g.want(g.token(p), 400, "unauthorized_client") // no end, so never
}

func TestPasswordGrantIssuesLikeACode(t *testing.T) {
	var events *trail
	g := newPasswordRig(t, recorded(&events))
	a := g.want(g.token(passwordOf("ann", annsPassword)), 200, "")
	if a.tokens.Scope != "read" || a.tokens.Expires != 3600 || a.tokens.Type != "Bearer" || !g.alive(a.tokens.Access) {
		t.Errorf("%s", a.body)
	}
	if d, s := a.header.Get("Deprecation"), a.header.Get("Sunset"); d != "@1735689600" || s != g.now().Add(365*24*time.Hour).UTC().Format(http.TimeFormat) {
		t.Errorf("Deprecation %q, Sunset %q", d, s) // RFC 9745, RFC 8594
	}
	if !slices.Equal(events.names(), []audit.Name{audit.Issue, audit.DeprecatedGrant}) ||
		!reflect.DeepEqual(events.last(), audit.Event{Name: audit.DeprecatedGrant, Client: "till", Subject: "u1", Reason: "password"}) {
		t.Errorf("%+v", events.events)
	}
	if lines := g.metrics.all(); !slices.Equal(lines[len(lines)-2:], []string{"deprecated password", "password issued"}) {
		t.Errorf("%v", lines)
	}
	refresh := params{"grant_type": "refresh_token", "refresh_token": a.tokens.Refresh, "client_id": "till", "client_secret": webSecret}
	next := g.want(g.token(refresh), 200, "")
	if next.header.Get("Sunset") != "" {
		t.Error("a refresh is deprecated")
	}
	g.revoked(g.revoke(params{"token": next.tokens.Refresh, "client_id": "till", "client_secret": webSecret}))
	if g.alive(a.tokens.Access) {
		t.Error("the grant's access token lives")
	}
	g.clients.change("till", func(c *oauth.Client) { c.Grants = c.Grants[:1] })
	a = g.want(g.token(passwordOf("ann", annsPassword).with("scope", "write")), 200, "")
	if a.tokens.Refresh != "" || a.tokens.Scope != "write" {
		t.Errorf("%s", a.body)
	}
	for p, code := range map[string]string{"admin": "invalid_scope", `"`: "invalid_scope"} {
		g.want(g.token(passwordOf("ann", annsPassword).with("scope", p)), 400, code)
	}
	g.want(g.token(passwordOf("ann", annsPassword).with("resource", "https://elsewhere.example")), 400, "invalid_target")
	g.want(g.token(passwordOf("", annsPassword)), 400, "invalid_request")
	g.want(g.token(passwordOf("ann", "")), 400, "invalid_request")
	g.want(g.token(passwordOf("ann", strings.Repeat("x", directory.MaxPassword+1))), 400, "invalid_request")
	g.want(g.token(passwordOf(strings.Repeat("x", 257), "x")), 400, "invalid_request")
}

// A grant that was narrowed to a resource ends with it: a resource above it that stays
// configured is more than the user permitted. What was asked for below a resource is kept as
// that resource.
func TestConfigDoesNotWidenANarrowedGrant(t *testing.T) { // S20
	g := newPasswordRig(t)
	audience := func(all ...string) { g.clients.change("till", func(c *oauth.Client) { c.Audience = all }) }
	audience("https://h.example", "https://h.example/mcp")
	refresh := func(from answer, status int, code string) answer {
		return g.want(g.token(params{"grant_type": "refresh_token", "refresh_token": from.tokens.Refresh, "client_id": "till", "client_secret": webSecret}), status, code)
	}
	narrowed := g.want(g.token(passwordOf("ann", annsPassword).with("resource", "https://h.example/mcp/v1")), 200, "")
	rooted := g.want(g.token(passwordOf("ann", annsPassword).with("resource", "https://h.example/other")), 200, "")
	for _, a := range []struct {
		answer answer
		want   string
	}{{narrowed, "https://h.example/mcp"}, {rooted, "https://h.example"}} {
		if access, err := g.verifier.Verify(t.Context(), a.answer.tokens.Access); err != nil || strings.Join(access.Audience, " ") != a.want {
			t.Errorf("%v %v, want %s", access, err, a.want)
		}
	}
	audience("https://h.example/")
	refresh(narrowed, 400, "invalid_target")
	rooted = refresh(rooted, 200, "")
	if access, err := g.verifier.Verify(t.Context(), rooted.tokens.Access); err != nil || strings.Join(access.Audience, " ") != "https://h.example/" {
		t.Errorf("%v %v", access, err)
	}
	audience("https://h.example", "https://h.example/mcp")
	refresh(narrowed, 200, "")
}

func TestDeprecatedGrantEnds(t *testing.T) { // P03
	g := newPasswordRig(t)
	a := g.want(g.token(passwordOf("ann", annsPassword)), 200, "")
	g.pass(365*24*time.Hour - time.Second)
	g.want(g.token(passwordOf("ann", annsPassword)), 200, "")
	g.pass(time.Second)
	end := g.want(g.token(passwordOf("ann", annsPassword)), 400, "unauthorized_client")
	if !strings.Contains(end.tokens.Text, "until 20") || a.header.Get("Sunset") == "" {
		t.Errorf("%q", end.tokens.Text)
	}
	g.want(g.token(passwordOf("ann", annsPassword).with("client_id", "web")), 400, "unsupported_grant_type")
}

func TestRefusedPasswordsLookAlike(t *testing.T) { // P02
	var events *trail
	g := newPasswordRig(t, recorded(&events))
	g.users.SetLocked("u1", false)
	bodies := map[string]bool{}
	refuse := func(p params) {
		t.Helper()
		a := g.want(g.token(p), 400, "invalid_grant")
		bodies[a.body] = true
		if a.header.Get("Sunset") != "" {
			t.Error("Sunset on a refusal")
		}
	}
	refuse(passwordOf("ann", "wrong"))
	refuse(passwordOf("nobody", "wrong"))
	g.users.SetLocked("u1", true)
	refuse(passwordOf("ann", annsPassword))
	g.users.SetLocked("u1", false)
	for range 10 {
		refuse(passwordOf("ann", "wrong"))
	}
	refuse(passwordOf("ann", annsPassword)) // locked out
	if len(bodies) != 1 {
		t.Errorf("%v", bodies)
	}
	if want := (audit.Event{Name: audit.SignInFailed, Subject: "u1", Client: "till", Reason: "locked"}); !reflect.DeepEqual(events.last(), want) {
		t.Errorf("%+v", events.last())
	}
}

func TestPasswordFailuresAreCountedAcrossEndpoints(t *testing.T) { // P02
	for _, first := range []string{"token", "login"} {
		t.Run(first, func(t *testing.T) {
			g := newPasswordRig(t)
			wrongToken := func(name string) { g.want(g.token(passwordOf(name, "wrong")), 400, "invalid_grant") }
			wrongLogin := func(name string) {
				b := g.browser()
				if p := b.signIn(b.get(authorizeURL(webRequest())), name, "wrong"); p.status != 401 {
					t.Fatalf("%d", p.status)
				}
			}
			for i := range 10 {
				if i < 5 == (first == "token") {
					wrongToken("Ann")
				} else {
					wrongLogin(" ann")
				}
			}
			g.want(g.token(passwordOf("ann", annsPassword)), 400, "invalid_grant")
			b := g.browser()
			if p := b.signIn(b.get(authorizeURL(webRequest())), "ann", annsPassword); p.status != 401 {
				t.Errorf("the login page lets in: %d", p.status)
			}
			g.pass(15 * time.Minute)
			g.want(g.token(passwordOf("ann", annsPassword)), 200, "")
		})
	}
}

func TestPasswordGrantFailuresPerAddressAreLimited(t *testing.T) {
	var d *watched
	g := newPasswordRig(t, watch(&d), func(c *authserver.Config) { c.Protect.PerAddress = 30 })
	for range 31 { // N09: right passwords use up nothing
		g.want(g.token(passwordOf("ann", annsPassword)), 200, "")
	}
	for i := range 30 {
		g.want(g.token(passwordOf(fmt.Sprint("user", i), "wrong")), 400, "invalid_grant")
	}
	a := g.want(g.token(passwordOf("ann", annsPassword)), 429, "slow_down")
	if a.header.Get("Retry-After") == "" || len(d.asked()) != 61 {
		t.Errorf("%v, %d passwords were looked at", a.header, len(d.asked()))
	}
	b := g.browser()
	if p := b.signIn(b.get(authorizeURL(webRequest())), "ann", annsPassword); p.status != 429 {
		t.Errorf("the login page: %d", p.status)
	}
	g.from("192.0.2.9")
	g.want(g.token(passwordOf("ann", annsPassword)), 200, "")
}

func TestLockedNameCostsAHashLikeAnyOther(t *testing.T) { // P02, timing
	var d *watched
	g := newPasswordRig(t, watch(&d))
	for range 10 {
		g.want(g.token(passwordOf("ann", "wrong")), 400, "invalid_grant")
	}
	g.want(g.token(passwordOf("ann", annsPassword)), 400, "invalid_grant")
	g.want(g.token(passwordOf("nobody", "x")), 400, "invalid_grant")
	if names := d.asked(); len(names) != 12 || names[10] == "ann" {
		t.Errorf("%q", names)
	}
}

func TestUnservableRequestChecksNoPassword(t *testing.T) {
	var d *watched
	g := newPasswordRig(t, watch(&d))
	g.want(g.token(passwordOf("ann", annsPassword).with("scope", "admin")), 400, "invalid_scope")
	g.want(g.token(passwordOf("ann", annsPassword).with("client_secret", strings.Repeat("x", 40))), 401, "invalid_client")
	g.pass(366 * 24 * time.Hour)
	g.want(g.token(passwordOf("ann", annsPassword)), 400, "unauthorized_client")
	if len(d.asked()) != 0 {
		t.Errorf("%q", d.asked())
	}
}

func TestDirectoryFaultIsNotAWrongPassword(t *testing.T) {
	g := newPasswordRig(t)
	g.users.Fail(errLost)
	for range 15 {
		g.want(g.token(passwordOf("ann", annsPassword)), 503, "temporarily_unavailable")
	}
	g.users.Fail(nil)
	g.want(g.token(passwordOf("ann", annsPassword)), 200, "") // not held against the account
	for _, lost := range []bool{false, true} {
		g.store.plan(1, 1, lost, errLost)
		g.want(g.token(passwordOf("ann", annsPassword)), 503, "temporarily_unavailable")
	}
	g.store.plan(0, 0, false, nil)
	g.want(g.token(passwordOf("ann", annsPassword)), 200, "")
}

// meanwhile does something while a password is checked.
type meanwhile struct {
	directory.Directory
	do func()
}

func (d meanwhile) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	u, ok, err := d.Directory.Authenticate(ctx, username, password)
	d.do()
	return u, ok, err
}

func TestEndDuringThePasswordGrantWins(t *testing.T) { // F10
	for name, end := range map[string]func(g *tokenRig){
		"locked":                func(g *tokenRig) { g.users.SetLocked("u1", true) },
		"deleted":               func(g *tokenRig) { g.users.Remove("u1") },
		"signed out everywhere": func(g *tokenRig) { g.must(g.server.EndSubject(g.t.Context(), "u1")) },
	} {
		t.Run(name, func(t *testing.T) {
			var g *tokenRig
			g = newPasswordRig(t, func(c *authserver.Config) {
				c.Directory = meanwhile{c.Directory, func() { end(g) }}
			})
			g.want(g.token(passwordOf("ann", annsPassword)), 400, "invalid_grant")
			g.eachGrant(func(v *store.Grant) {
				if !v.Revoked() {
					t.Error("a family lives")
				}
			})
		})
	}
}
