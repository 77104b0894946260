package clientstore_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// N17: an update by the client itself does not take back scopes that an operator took from it.
func TestClientCannotRestoreScopesAnOperatorRemoved(t *testing.T) {
	r := newRig(t)
	wide := func(c *oauth.Client) { c.Scopes = []string{"read", "write"} }
	c, _, err := r.Register(t.Context(), registration(wide), secret.Digest("access"), 10)
	if err != nil {
		t.Fatal(err)
	}
	choose := func(scopes ...string) {
		t.Helper()
		if err := r.Update(t.Context(), c.ID, func(d *clientstore.Definition) error { d.Scopes = scopes; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	choose("read")
	for range 2 {
		changed, err := r.Reregister(t.Context(), c.ID, registration(wide))
		if err != nil || !slices.Equal(changed.Scopes, []string{"read", "offline_access"}) {
			t.Errorf("N17 %+v, %v", changed, err)
		}
	}
	_, err = r.Reregister(t.Context(), c.ID, registration(func(c *oauth.Client) { c.Scopes = []string{"write"} }))
	wantRefusal(t, err, oauth.InvalidClientMetadata)
	choose("read", "write")
	if changed, err := r.Reregister(t.Context(), c.ID, registration(wide)); err != nil || len(changed.Scopes) != 3 {
		t.Errorf("N17 given back: %+v, %v", changed, err)
	}
}

// N17: the choice counts too when it comes as JSON, which is decoded into the lists that are there.
func TestJSONScopeChangesCountAsTheOperatorsChoice(t *testing.T) {
	r := newRig(t)
	c, _, err := r.Register(t.Context(), registration(func(c *oauth.Client) { c.Scopes = []string{"read", "email"} }), secret.Digest("access"), 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Update(t.Context(), c.ID, func(d *clientstore.Definition) error {
		return json.Unmarshal([]byte(`{"scopes":["read","write"]}`), d)
	}); err != nil {
		t.Fatal(err)
	}
	changed, err := r.Reregister(t.Context(), c.ID, registration(func(c *oauth.Client) { c.Scopes = []string{"read", "email"} }))
	if err != nil || slices.Contains(changed.Scopes, "email") {
		t.Errorf("N17 %+v, %v", changed, err)
	}
}

// N17: what registered clients may have at most holds for those too that registered when it was
// more; what an operator gave one of them stays.
func TestReducedRegistrationScopesAreWithheld(t *testing.T) {
	memory := storetest.NewMemory(nil)
	with := func(scopes []string) *rig {
		return newRig(t, func(c *clientstore.Config) { c.Store, c.RegisteredScopes = memory, scopes })
	}
	wide := func(c *oauth.Client) { c.Scopes = []string{"read", "write"} }
	c, _, err := with([]string{"read", "write"}).Register(t.Context(), registration(wide), secret.Digest("access"), 10)
	if err != nil {
		t.Fatal(err)
	}
	want := func(limit []string, scopes, defaults string) {
		t.Helper()
		c, _, err := with(limit).Client(t.Context(), c.ID)
		if err != nil || strings.Join(c.Scopes, " ") != scopes || strings.Join(c.DefaultScopes, " ") != defaults {
			t.Errorf("N17 %v: %+v, %v", limit, c, err)
		}
	}
	want([]string{"read", "write"}, "read write offline_access", "read write")
	want([]string{"read"}, "read offline_access", "read")
	want([]string{}, "offline_access", "")
	want(nil, "read write offline_access", "read write") // registration is closed
	if err := with(nil).Update(t.Context(), c.ID, func(d *clientstore.Definition) error { d.Scopes = []string{"write"}; return nil }); err != nil {
		t.Fatal(err)
	}
	want([]string{"read"}, "write offline_access", "write")
}

// N17: scopes that were taken from registered clients do not come back when nobody can register
// any more, and the audience stays what it was last.
func TestClosingRegistrationRestoresNoScopes(t *testing.T) {
	memory := storetest.NewMemory(nil)
	with := func(scopes []string) *rig {
		return newRig(t, func(c *clientstore.Config) { c.Store, c.RegisteredScopes = memory, scopes })
	}
	keep := func(scopes []string, audience ...string) {
		t.Helper()
		if err := with(scopes).KeepRegistration(t.Context(), audience); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := with([]string{"read", "write"}).Register(t.Context(), registration(func(c *oauth.Client) {
		c.Scopes, c.RegisteredAudience = []string{"read", "write"}, []string{"https://old.example"}
	}), secret.Digest("access"), 10)
	if err != nil {
		t.Fatal(err)
	}
	want := func(scopes, audience string) {
		t.Helper()
		c, _, err := with(nil).Client(t.Context(), c.ID)
		if err != nil || strings.Join(c.Scopes, " ") != scopes || strings.Join(c.RegisteredAudience, " ") != audience {
			t.Errorf("N17 %+v, %v", c, err)
		}
	}
	keep(nil, "https://ignored.example")
	want("read write offline_access", "https://old.example") // nothing was kept
	keep([]string{"read", "write"}, "https://new.example")
	want("read write offline_access", "https://new.example")
	for range 2 {
		keep([]string{"read"})
		want("read offline_access", "")
	}
	keep([]string{})
	want("offline_access", "")
	keep(nil)
	want("offline_access", "")
	made, _ := with(nil).create(web("made"))
	if c, _, err := with(nil).Client(t.Context(), made.ID); err != nil || !slices.Contains(c.Scopes, "read") {
		t.Errorf("N17 a client that an operator made: %+v, %v", c, err)
	}
	memory.Fail(errAway)
	if _, ok, err := with(nil).Client(t.Context(), c.ID); ok || err == nil {
		t.Errorf("N17 a fault: %v, %v", ok, err)
	}
}

// An update by the client itself must not undo what an operator narrowed, nor keep what
// was given to what it said of itself before.
func TestClientUpdateKeepsAnOperatorsRestrictions(t *testing.T) {
	r := newRig(t)
	c, _, err := r.Register(t.Context(), registration(), secret.Digest("access"), 10)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Update(t.Context(), c.ID, func(d *clientstore.Definition) error {
		d.Audience, d.Owner, d.Trusted, d.Introspect = []string{"https://one.example"}, "ops", true, true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err = r.Reregister(t.Context(), c.ID, registration())
	if err != nil || !slices.Equal(c.Audience, []string{"https://one.example"}) || c.Owner != "ops" || c.Trusted || c.Introspect {
		t.Errorf("%+v, %v", c, err)
	}
}
