package clientstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

var errAway = errors.New("away")

// rig is a store of clients with a clock and a log of revocations.
type rig struct {
	*clientstore.Clients
	t      *testing.T
	memory *storetest.Memory

	mu      sync.Mutex
	at      time.Time
	revoked []string
	fault   error
}

func newRig(t *testing.T, change ...func(*clientstore.Config)) *rig {
	t.Helper()
	r := &rig{t: t, at: time.Unix(1_900_000_000, 0)}
	r.memory = storetest.NewMemory(r.now)
	c := clientstore.Config{
		Store: r.memory, Revocations: r, Now: r.now, Scopes: []string{"read", "write", "email"},
		Taken: func(id string) bool { return id == "configured" },
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if r.Clients, err = clientstore.New(c); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) now() time.Time       { r.mu.Lock(); defer r.mu.Unlock(); return r.at }
func (r *rig) pass(d time.Duration) { r.mu.Lock(); defer r.mu.Unlock(); r.at = r.at.Add(d) }

func (r *rig) Revoke(_ context.Context, v store.Revocation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.revoked = append(r.revoked, string(v.Of)+" "+v.Value)
	return r.fault
}

func (r *rig) create(d clientstore.Definition) (clientstore.Definition, string) {
	r.t.Helper()
	made, value, err := r.Create(r.t.Context(), d)
	if err != nil {
		r.t.Fatal(err)
	}
	return made, value
}

// knows reports whether the secret authenticates the client.
func (r *rig) knows(id, value string) bool {
	r.t.Helper()
	c, ok, err := r.Client(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return ok && slices.Contains(c.SecretHashes, secret.Digest(value))
}

func web(id string) clientstore.Definition {
	return clientstore.Definition{Client: oauth.Client{ID: id, Name: "Web", RedirectURIs: []string{"https://web.example/cb"}, Scopes: []string{"read"}}}
}

func TestIncompleteConfigIsRefused(t *testing.T) {
	for _, c := range []clientstore.Config{{}, {Store: storetest.NewMemory(nil)}, {Revocations: &rig{}}} {
		if _, err := clientstore.New(c); err == nil {
			t.Errorf("accepted: %+v", c)
		}
	}
}

func TestStoredClientMatchesItsDefinition(t *testing.T) {
	r := newRig(t)
	d := clientstore.Definition{Client: oauth.Client{
		ID: "all", Name: "All", Owner: "Me", AuthMethod: "client_secret_post", Native: true,
		RedirectURIs: []string{"https://web.example/cb"}, PostLogoutRedirectURIs: []string{"https://web.example/out"}, Origins: []string{"https://more.example"},
		Grants: []oauth.GrantType{"authorization_code"},
		Scopes: []string{"read", "write", "email"}, DefaultScopes: []string{"read"}, Audience: []string{"https://api.example"}, Trusted: true, Introspect: true, IntrospectByStatus: true,
		IDTokenAlg: "ES256", IDTokenClaims: []string{"email"}, UserinfoContentType: "application/jwt", RequireState: "with_pkce_optional",
	}, DeprecatedGrants: map[string]string{"password": "2031-02-03"}}
	made, value := r.create(d)
	got, err := r.Get(t.Context(), "all")
	if err != nil || fmt.Sprint(got) != fmt.Sprint(made) {
		t.Errorf("Get = %+v, %v, want %+v", got, err, made)
	}
	if len(value) != 43 || !r.knows("all", value) || len(got.Secrets) != 1 || !got.Created.Equal(r.now()) {
		t.Errorf("secret %q of %+v", value, got)
	}
	c, ok, err := r.Client(t.Context(), "all")
	want := oauth.Client{
		ID: "all", Name: "All", Owner: "Me", AuthMethod: "client_secret_post", Native: true,
		SecretHashes: []string{secret.Digest(value)},
		RedirectURIs: d.RedirectURIs, PostLogoutRedirectURIs: d.PostLogoutRedirectURIs, Origins: d.Origins,
		Grants: []oauth.GrantType{oauth.AuthorizationCode, oauth.Password},
		Until:  map[oauth.GrantType]time.Time{oauth.Password: time.Date(2031, 2, 3, 0, 0, 0, 0, time.UTC)},
		Scopes: []string{"read", "write", "email", "offline_access"}, DefaultScopes: []string{"read"}, Audience: d.Audience, Trusted: true, Introspect: true, IntrospectByStatus: true,
		IDTokenAlg: "ES256", IDTokenClaims: []string{"email"}, UserinfoContentType: "application/jwt", RequireState: oauth.StateUnlessPKCEOrNonce, Since: made.Created,
	}
	if !ok || err != nil || fmt.Sprintf("%+v", *c) != fmt.Sprintf("%+v", want) {
		t.Errorf("Client = %+v, %v, %v\nwant %+v", c, ok, err, want)
	}
}

func TestMissingIDsAndSecretsAreGenerated(t *testing.T) {
	r := newRig(t)
	one, _ := r.create(web(""))
	two, _ := r.create(web(""))
	if one.ID == two.ID || len(one.ID) != 24 || !oauth.ValidClientID(one.ID) || strings.HasPrefix(one.ID, "-") {
		t.Errorf("ids %q and %q", one.ID, two.ID)
	}
	public := web("spa")
	public.Public = true
	if _, value := r.create(public); value != "" {
		t.Error("a public client got a secret")
	}
	machine, value := r.create(clientstore.Definition{Client: oauth.Client{ID: "job", Scopes: []string{"read"}}})
	if value == "" || !slices.Equal(machine.Grants, []oauth.GrantType{"client_credentials"}) {
		t.Errorf("a client without redirect addresses: %+v", machine)
	}
}

func TestStoreRefusesWhatTheConfigurationRefuses(t *testing.T) {
	r := newRig(t)
	change := func(f func(*clientstore.Definition)) clientstore.Definition {
		d := web("x")
		f(&d)
		return d
	}
	for name, d := range map[string]clientstore.Definition{
		"an id with a space":      web("a b"),
		"an id that is too long":  web(strings.Repeat("a", 129)),
		"plain http":              change(func(d *clientstore.Definition) { d.RedirectURIs = []string{"http://web.example/"} }),
		"a script as a redirect":  change(func(d *clientstore.Definition) { d.RedirectURIs = []string{"javascript:alert(1)"} }),
		"an undeclared scope":     change(func(d *clientstore.Definition) { d.Scopes = []string{"admin"} }),
		"a default it lacks":      change(func(d *clientstore.Definition) { d.DefaultScopes = []string{"write"} }),
		"an unknown grant":        change(func(d *clientstore.Definition) { d.Grants = []oauth.GrantType{"magic"} }),
		"a deprecated one":        change(func(d *clientstore.Definition) { d.Grants = []oauth.GrantType{"password"} }),
		"one without a day":       change(func(d *clientstore.Definition) { d.DeprecatedGrants = map[string]string{"password": "soon"} }),
		"a public machine":        change(func(d *clientstore.Definition) { d.Public, d.Grants = true, []oauth.GrantType{"client_credentials"} }),
		"keys that are none":      change(func(d *clientstore.Definition) { d.JWKS = "x" }),
		"keys without a method":   change(func(d *clientstore.Definition) { d.AuthMethod = "private_key_jwt" }),
		"an origin with a path":   change(func(d *clientstore.Definition) { d.Origins = []string{"https://a.example/x"} }),
		"an empty audience":       change(func(d *clientstore.Definition) { d.Audience = []string{""} }),
		"more than fits a record": change(func(d *clientstore.Definition) { d.Owner = strings.Repeat("x", 64<<10) }),
	} {
		_, _, err := r.Create(t.Context(), d)
		if bad := (*oauth.FieldError)(nil); !errors.As(err, &bad) || bad.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := r.List(t.Context(), "", 10); len(all) != 0 || err != nil {
		t.Errorf("stored: %v, %v", all, err)
	}
}

func TestClientIDIsUnique(t *testing.T) {
	r := newRig(t)
	r.create(web("a"))
	for _, id := range []string{"a", "configured"} {
		if _, _, err := r.Create(t.Context(), web(id)); !errors.Is(err, clientstore.ErrExists) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestListReturnsAllClientsInOrder(t *testing.T) {
	r := newRig(t)
	var want []string
	for i := range 7 {
		d, _ := r.create(web(fmt.Sprintf("client-%d", i)))
		want = append(want, d.ID)
	}
	for range 4 {
		c, _, err := r.Register(t.Context(), registration(), "digest", 10)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, c.ID)
	}
	slices.Sort(want)
	for _, limit := range []int{1, 2, 3, 11, 100} {
		var got []string
		for after := ""; ; {
			page, err := r.List(t.Context(), after, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page {
				got = append(got, d.ID)
				after = d.ID
			}
			if len(page) < limit {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v, want %v", limit, got, want)
		}
	}
}

func TestUpdateChangesOnlyUpdatableFields(t *testing.T) {
	r := newRig(t)
	made, value := r.create(web("a"))
	err := r.Update(t.Context(), "a", func(d *clientstore.Definition) error {
		d.Name, d.Scopes, d.Secrets, d.Created, d.SelfRegistered = "New", []string{"write"}, nil, time.Time{}, true
		return nil
	})
	got, _ := r.Get(t.Context(), "a")
	if err != nil || got.Name != "New" || !slices.Equal(got.Scopes, []string{"write"}) || !got.Created.Equal(made.Created) || got.SelfRegistered || !r.knows("a", value) {
		t.Errorf("%v: %+v", err, got)
	}
	stop := errors.New("stop")
	for name, f := range map[string]func(*clientstore.Definition) error{
		"another id":     func(d *clientstore.Definition) error { d.ID = "b"; return nil },
		"public":         func(d *clientstore.Definition) error { d.Public = true; return nil },
		"a bad redirect": func(d *clientstore.Definition) error { d.RedirectURIs = []string{"x"}; return nil },
		"its own error":  func(d *clientstore.Definition) error { d.Name = "no"; return stop },
	} {
		err := r.Update(t.Context(), "a", f)
		if bad := (*oauth.FieldError)(nil); !errors.As(err, &bad) && !errors.Is(err, stop) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, _ := r.Get(t.Context(), "a"); fmt.Sprint(after) != fmt.Sprint(got) {
		t.Errorf("a refused update changed the client: %+v", after)
	}
	if err := r.Update(t.Context(), "b", func(*clientstore.Definition) error { return nil }); !errors.Is(err, clientstore.ErrNotFound) {
		t.Errorf("an unknown client: %v", err)
	}
}

func TestParallelUpdatesLoseNothing(t *testing.T) {
	r := newRig(t)
	r.create(web("a"))
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			if err := r.Update(t.Context(), "a", func(d *clientstore.Definition) error {
				d.RedirectURIs = append(d.RedirectURIs, fmt.Sprintf("https://web.example/%d", i))
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if d, _ := r.Get(t.Context(), "a"); len(d.RedirectURIs) != 6 {
		t.Errorf("%v", d.RedirectURIs)
	}
}

func TestRotatedSecretEndsAfterItsOverlap(t *testing.T) {
	r := newRig(t)
	_, first := r.create(web("a"))
	second, err := r.RotateSecret(t.Context(), "a", time.Hour)
	if err != nil || first == second || !r.knows("a", first) || !r.knows("a", second) {
		t.Fatalf("after the rotation: %v", err)
	}
	r.pass(time.Hour - time.Second)
	if !r.knows("a", first) {
		t.Error("the old secret ended early")
	}
	r.pass(time.Second)
	if r.knows("a", first) || !r.knows("a", second) {
		t.Error("the old secret still works, or the new one does not")
	}
	third, err := r.RotateSecret(t.Context(), "a", 0)
	if err != nil || r.knows("a", second) || !r.knows("a", third) {
		t.Errorf("without an overlap the old secret ends at once: %v", err)
	}
	if d, _ := r.Get(t.Context(), "a"); len(d.Secrets) != 1 || !d.Secrets[0].Until.IsZero() {
		t.Errorf("%+v", d.Secrets)
	}
}

func TestRotationExtendsNoSecretAndKeepsAtMostFour(t *testing.T) {
	r := newRig(t)
	_, first := r.create(web("a"))
	secrets := []string{first}
	for range 6 {
		value, err := r.RotateSecret(t.Context(), "a", 24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, value)
		r.pass(time.Minute)
	}
	for i, s := range secrets {
		if r.knows("a", s) != (i >= len(secrets)-4) {
			t.Errorf("secret %d of %d: %v", i+1, len(secrets), r.knows("a", s))
		}
	}
	if _, err := r.RotateSecret(t.Context(), "a", time.Minute); err != nil {
		t.Fatal(err)
	}
	r.pass(time.Minute)
	if r.knows("a", secrets[len(secrets)-1]) {
		t.Error("a shorter overlap left an older secret its longer one")
	}
}

func TestOnlyClientsWithASecretCanRotateIt(t *testing.T) {
	r := newRig(t)
	public := web("spa")
	public.Public = true
	r.create(public)
	keyed := web("keyed")
	keyed.JWKS, keyed.AuthMethod = jwks, "private_key_jwt"
	r.create(keyed)
	r.create(web("a"))
	bad := (*oauth.FieldError)(nil)
	for _, id := range []string{"spa", "keyed"} {
		if _, err := r.RotateSecret(t.Context(), id, 0); !errors.As(err, &bad) {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, overlap := range []time.Duration{-1, clientstore.MaxOverlap + 1} {
		if _, err := r.RotateSecret(t.Context(), "a", overlap); !errors.As(err, &bad) {
			t.Errorf("an overlap of %v: %v", overlap, err)
		}
	}
	if _, err := r.RotateSecret(t.Context(), "nobody", 0); !errors.Is(err, clientstore.ErrNotFound) {
		t.Error(err)
	}
}

func TestDeletedClientsTokensAreRevoked(t *testing.T) {
	r := newRig(t)
	r.create(web("a"))
	r.fault = errAway
	if err := r.Delete(t.Context(), "a"); !errors.Is(err, errAway) {
		t.Errorf("without a revocation: %v", err)
	}
	if _, ok, _ := r.Client(t.Context(), "a"); !ok {
		t.Error("the client is gone although its tokens are alive")
	}
	r.fault, r.revoked = nil, nil
	if err := r.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := r.Client(t.Context(), "a"); ok || err != nil {
		t.Errorf("still there: %v", err)
	}
	if len(r.revoked) == 0 || r.revoked[0] != "client a" {
		t.Errorf("revoked: %v", r.revoked)
	}
	r.revoked = nil
	if err := r.Delete(t.Context(), "a"); !errors.Is(err, clientstore.ErrNotFound) || len(r.revoked) != 0 {
		t.Errorf("a second time: %v, %v", err, r.revoked)
	}
}

func TestDeletingAShadowedClientKeepsConfiguredTokens(t *testing.T) {
	taken := false
	r := newRig(t, func(c *clientstore.Config) { c.Taken = func(string) bool { return taken } })
	r.create(web("a"))
	taken = true
	if err := r.Delete(t.Context(), "a"); err != nil || len(r.revoked) != 0 {
		t.Errorf("%v, revoked %v", err, r.revoked)
	}
}

func TestUndeclaredScopeIsWithheld(t *testing.T) {
	memory := storetest.NewMemory(nil)
	with := func(scopes ...string) *rig {
		return newRig(t, func(c *clientstore.Config) { c.Store, c.Scopes = memory, scopes })
	}
	d := web("a")
	d.Scopes, d.DefaultScopes = []string{"read", "write"}, []string{"read", "write"}
	with("read", "write").create(d)
	c, _, err := with("write").Client(t.Context(), "a")
	if err != nil || !slices.Equal(c.Scopes, []string{"write", "offline_access"}) || !slices.Equal(c.DefaultScopes, []string{"write"}) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestStoreFaultsAreErrors(t *testing.T) {
	r := newRig(t)
	r.create(web("a"))
	r.memory.Fail(errAway)
	ctx := t.Context()
	_, _, err1 := r.Client(ctx, "a")
	_, err2 := r.Get(ctx, "a")
	_, err3 := r.List(ctx, "", 1)
	_, _, err4 := r.Create(ctx, web("b"))
	err5 := r.Update(ctx, "a", func(*clientstore.Definition) error { return nil })
	_, err6 := r.RotateSecret(ctx, "a", 0)
	err7 := r.Delete(ctx, "a")
	_, _, err8 := r.Register(ctx, registration(), "d", 1)
	_, _, err9 := r.Registered(ctx, "a", "d")
	err10 := r.Used(ctx, "a")
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9, err10} {
		if !errors.Is(err, errAway) {
			t.Errorf("%d: %v", i+1, err)
		}
	}
}

func TestRecordOfANewerReleaseIsRefused(t *testing.T) {
	r := newRig(t)
	_, err := r.memory.Create(t.Context(), store.Record{Key: store.Key{Kind: store.KindClient, ID: "new"}, Value: []byte(`{"v":99,"id":"new"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := r.Client(t.Context(), "new"); err == nil || ok {
		t.Error("misread")
	}
}

func TestInvalidClientIDsAreNotLookedUp(t *testing.T) {
	r := newRig(t)
	r.memory.Fail(errAway)
	for _, id := range []string{"", " ", "a b", "a\x00b", "ä", strings.Repeat("a", 10_000)} {
		if _, ok, err := r.Client(t.Context(), id); ok || err != nil {
			t.Errorf("%.20q: %v, %v", id, ok, err)
		}
	}
}

func portal() clientstore.Definition {
	return clientstore.Definition{Client: oauth.Client{ID: "portal", Owner: "acme", VariantB: true, RedirectURIs: []string{"https://portal.example/wx"}, FrameOrigins: []string{"https://portal.example"}, Scopes: []string{"snsapi_login", "read"}, UserinfoContentType: "text"}}
}

func TestVariantBClientIsStoredUnchanged(t *testing.T) {
	r := newRig(t)
	made, value := r.create(portal())
	c, ok, err := r.Client(t.Context(), "portal")
	want := oauth.Client{
		ID: "portal", Owner: "acme", VariantB: true, RedirectURIs: made.RedirectURIs, FrameOrigins: []string{"https://portal.example"},
		SecretHashes: []string{secret.Digest(value)}, Grants: []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken},
		Scopes: []string{"snsapi_login", "read"}, UserinfoContentType: "text", Since: made.Created,
	}
	if !ok || err != nil || fmt.Sprintf("%+v", *c) != fmt.Sprintf("%+v", want) {
		t.Errorf("Client = %+v, %v, %v\nwant %+v", c, ok, err, want)
	}
	if err := r.Update(t.Context(), "portal", func(d *clientstore.Definition) error { d.Name = "Portal"; return nil }); err != nil {
		t.Errorf("another name: %v", err)
	}
	bad := (*oauth.FieldError)(nil)
	for name, change := range map[string]func(*clientstore.Definition){
		"the other dialect": func(d *clientstore.Definition) {
			d.VariantB, d.FrameOrigins, d.UserinfoContentType, d.Scopes = false, nil, "", []string{"read"}
		},
		"grants":             func(d *clientstore.Definition) { d.Grants = []oauth.GrantType{"client_credentials"} },
		"openid":             func(d *clientstore.Definition) { d.Scopes = append(d.Scopes, "openid") },
		"no scope of its":    func(d *clientstore.Definition) { d.Scopes = []string{"read"} },
		"a path to frame it": func(d *clientstore.Definition) { d.FrameOrigins = []string{"https://portal.example/x"} },
	} {
		if err := r.Update(t.Context(), "portal", func(d *clientstore.Definition) error { change(d); return nil }); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	keyed := portal()
	keyed.ID, keyed.JWKS = "keyed", jwks
	public := portal()
	public.ID, public.Public = "public", true
	for _, d := range []clientstore.Definition{keyed, public} {
		if _, _, err := r.Create(t.Context(), d); !errors.As(err, &bad) {
			t.Errorf("%s: %v", d.ID, err)
		}
	}
}
