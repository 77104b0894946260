package grant

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func newKeys(t testing.TB, secrets ...string) *secret.Keys {
	t.Helper()
	var raw [][]byte
	for _, s := range secrets {
		raw = append(raw, bytes.Repeat([]byte(s), 32))
	}
	k, err := secret.NewKeys(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestRefreshTokenIsBoundToAllItsParts(t *testing.T) {
	k := newKeys(t, "k")
	family := secret.ID()
	token, err := encodeRefresh(k, family, 7, "c", store.DialectOAuth)
	if err != nil || len(token) != 75 {
		t.Fatalf("%q %v", token, err)
	}
	if f, n, ok := decodeRefresh(k, token, "c", store.DialectOAuth); !ok || f != family || n != 7 {
		t.Errorf("%q %d %v", f, n, ok)
	}
	if again, _ := encodeRefresh(k, family, 7, "c", store.DialectOAuth); again != token {
		t.Error("not the same at every repetition")
	}
	for _, c := range []struct {
		name    string
		keys    *secret.Keys
		client  string
		dialect store.Dialect
	}{
		{"client", k, "d", store.DialectOAuth},
		{"dialect", k, "c", store.DialectVariantB},
		{"secret", newKeys(t, "x"), "c", store.DialectOAuth},
	} {
		if _, _, ok := decodeRefresh(c.keys, token, c.client, c.dialect); ok {
			t.Errorf("another %s is accepted", c.name)
		}
	}
	if _, _, ok := decodeRefresh(newKeys(t, "x", "k"), token, "c", store.DialectOAuth); !ok {
		t.Error("a token of the former secret is refused")
	}
	for _, bad := range []string{"", "x", secret.Token(), family + "="} {
		if _, err := encodeRefresh(k, bad, 1, "c", store.DialectOAuth); err == nil {
			t.Errorf("a token for the family %q", bad)
		}
	}
}

func FuzzDecodeRefresh(f *testing.F) {
	k := newKeys(f, "k")
	good, _ := encodeRefresh(k, secret.ID(), 1, "c", store.DialectOAuth)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		family, generation, ok := decodeRefresh(k, s, "c", store.DialectOAuth)
		if !ok {
			return
		}
		if again, err := encodeRefresh(k, family, generation, "c", store.DialectOAuth); err != nil || again != s {
			t.Fatalf("%q is accepted and encoded as %q", s, again)
		}
	})
}

type deafRevoker struct{}

func (deafRevoker) Revoke(context.Context, store.Revocation) error { return nil }

type noTickets struct{}

func (noTickets) Find(context.Context, string) (store.Ticket, error) {
	return store.Ticket{}, crossdevice.ErrGone
}

type anybody struct{}

func (anybody) CheckPassword(context.Context, Request, string, string) (directory.User, bool, error) {
	return directory.User{}, true, nil
}

func TestConfigIsValidated(t *testing.T) {
	full := Config{
		Store: storetest.NewMemory(nil), Directory: directorytest.NewMemory(), Revocations: deafRevoker{},
		Keys: func(context.Context) (*secret.Keys, error) { return nil, nil }, Now: time.Now,
		Passwords: anybody{}, Tickets: noTickets{},
		Access: time.Hour, Refresh: time.Hour,
	}
	grants := All(familiesOf(t, full))
	types := append(slices.Clone(oauth.GrantTypes), oauth.Password)
	for i, g := range grants { // the endpoint offers all that a client may be configured with
		if g.Type() != types[i] {
			t.Errorf("%s is not at its place", g.Type())
		}
	}
	for name, spoil := range map[string]func(*Config){
		"store": func(c *Config) { c.Store = nil }, "directory": func(c *Config) { c.Directory = nil },
		"revocations": func(c *Config) { c.Revocations = nil }, "keys": func(c *Config) { c.Keys = nil },
		"clock": func(c *Config) { c.Now = nil }, "access": func(c *Config) { c.Access = time.Second - 1 },
		"refresh": func(c *Config) { c.Refresh = 0 }, "idle": func(c *Config) { c.RefreshIdle = -1 },
		"passwords": func(c *Config) { c.Passwords = nil },
		"grace":     func(c *Config) { c.RefreshGrace = -1 },
	} {
		c := full
		spoil(&c)
		if _, err := NewFamilies(c); err == nil {
			t.Errorf("accepted with a bad %s", name)
		}
	}
}

func TestOnlyAuthenticTokensOfThisDialectHaveAGrant(t *testing.T) {
	k := newKeys(t, "k")
	m := storetest.NewMemory(nil)
	f, err := NewFamilies(Config{
		Store: m, Directory: directorytest.NewMemory(), Revocations: deafRevoker{}, Passwords: anybody{},
		Keys: func(context.Context) (*secret.Keys, error) { return k, nil }, Now: time.Now,
		Access: time.Hour, Refresh: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	find := func(token string) bool {
		t.Helper()
		p, ok, err := f.Find(t.Context(), &oauth.Client{ID: "c"}, token)
		if err != nil || p.Alive != ok {
			t.Errorf("%+v %v", p, err)
		}
		return ok
	}
	for dialect, want := range map[store.Dialect]bool{store.DialectOAuth: true, store.DialectVariantB: false} {
		g := store.Grant{
			ID: secret.ID(), Dialect: dialect, Client: "c", Subject: "u", Generation: 1,
			IssuedAt: time.Now(), RotatedAt: time.Now(), Expires: time.Now().Add(time.Hour),
		}
		if err := f.beginFamily(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		token, _ := encodeRefresh(k, g.ID, 1, "c", dialect)
		if find(token) != want {
			t.Errorf("%s: %v", dialect, !want)
		}
		for _, forged := range []struct {
			keys   *secret.Keys
			client string
		}{{newKeys(t, "x"), "c"}, {k, "d"}} {
			if token, _ := encodeRefresh(forged.keys, g.ID, 1, forged.client, dialect); find(token) {
				t.Error("a forged token has a family")
			}
		}
	}
	m.Fail(errContended)
	token, _ := encodeRefresh(k, secret.ID(), 1, "c", store.DialectOAuth)
	if _, ok, err := f.Find(t.Context(), &oauth.Client{ID: "c"}, token); err == nil || ok {
		t.Error("a fault is no answer")
	}
}
