package authserver_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/store"
)

// Somebody may have put the secret where the client_id belongs.
func TestAuditTrailHasNoUnknownClientIDs(t *testing.T) { // N13
	var events *trail
	g := newTokenRig(t, recorded(&events))
	form := params{"grant_type": "client_credentials"}
	try := func(id, secret string) string {
		t.Helper()
		g.token(form.with("client_id", id).with("client_secret", secret))
		return events.last().Client
	}
	pasted := try(webSecret, "x")
	if !strings.HasPrefix(pasted, "hmac:") || len(pasted) != len("hmac:")+16 {
		t.Errorf("recorded as %q", pasted)
	}
	if again, other := try(webSecret, "y"), try(webSecret+"1", "x"); again != pasted || other == pasted {
		t.Errorf("%q, then %q, and for another %q", pasted, again, other)
	}
	for range 10 {
		if got := try(webSecret, "z"); got != pasted {
			t.Errorf("recorded as %q", got)
		}
	}
	if e := events.last(); e.Reason != "limited" {
		t.Errorf("%+v", e)
	}
	for range 11 {
		if got := try("web", "wrong"); got != "web" {
			t.Errorf("a client that exists is recorded as %q", got)
		}
	}
	if e := events.last(); e.Reason != "limited" {
		t.Errorf("%+v", e)
	}
	if got := try("job", strings.Repeat("x", 4<<10)); got != "job" {
		t.Errorf("with a long secret it is recorded as %q", got)
	}
}

func TestTokenAuditTrail(t *testing.T) {
	var events *trail
	g := newTokenRig(t, recorded(&events))
	want := func(names ...audit.Name) {
		t.Helper()
		if got := events.names(); !slices.Equal(got, names) {
			t.Errorf("%v, want %v", got, names)
		}
		events.mu.Lock()
		events.events = nil
		events.mu.Unlock()
	}
	rw := []string{"read", "write"}
	code := g.code()
	first := g.want(g.token(redeemWeb(code)), 200, "")
	family := ""
	g.eachGrant(func(v *store.Grant) { family = v.ID })
	if got, e := events.last(), (audit.Event{
		Name: audit.Issue, Client: "web", Subject: "u1", Grant: family, Scopes: rw, Reason: "authorization_code",
	}); !reflect.DeepEqual(got, e) {
		t.Errorf("%+v", got)
	}
	g.want(g.token(refreshWeb(first.tokens.Refresh)), 200, "")
	want(audit.Issue, audit.Issue)
	for range 3 { // the effect is one
		g.want(g.token(redeemWeb(code)), 400, "invalid_grant")
	}
	if got, e := events.last(), (audit.Event{Name: audit.CodeReuse, Client: "web", Subject: "u1", Grant: family, Scopes: rw}); !reflect.DeepEqual(got, e) {
		t.Errorf("%+v", got)
	}
	want(audit.CodeReuse)

	a := g.begin()
	b := g.want(g.token(refreshWeb(a.tokens.Refresh)), 200, "")
	g.want(g.token(refreshWeb(b.tokens.Refresh)), 200, "")
	for range 2 {
		g.want(g.token(refreshWeb(a.tokens.Refresh)), 400, "invalid_grant")
	}
	want(audit.Issue, audit.Issue, audit.Issue, audit.RefreshReuse)

	c := g.begin()
	for range 2 {
		g.revoked(g.revoke(asWeb(c.tokens.Access)))
		g.revoked(g.revoke(asWeb(c.tokens.Refresh)))
	}
	if got := events.last(); got.Reason != "refresh_token" || got.Client != "web" || got.Grant == "" {
		t.Errorf("%+v", got)
	}
	want(audit.Issue, audit.Revoke, audit.Revoke)

	g.revoker.fault = errLost
	d := g.begin()
	g.want(g.revoke(asWeb(d.tokens.Refresh)), 503, "temporarily_unavailable")
	g.want(g.revoke(asWeb(d.tokens.Access)), 503, "temporarily_unavailable")
	want(audit.Issue) // nothing that is not certain
}
