package grant

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// sns is the grants of Variant B over a store, with a clock set by hand.
type sns struct {
	t     *testing.T
	store *storetest.Memory
	keys  *secret.Keys
	b     *VariantB

	mu sync.Mutex
	at time.Time
}

func (s *sns) now() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.at }

func (s *sns) pass(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.at = s.at.Add(d) }

func newSNS(t *testing.T) *sns {
	t.Helper()
	s := &sns{t: t, keys: newKeys(t, "k"), at: time.Unix(1_900_000_000, 0)}
	s.store = storetest.NewMemory(s.now)
	var err error
	s.b, err = NewVariantB(Config{
		Store: s.store, Directory: directorytest.NewMemory(directorytest.Seed{User: directory.User{ID: "u", Username: "u"}}),
		Revocations: deafRevoker{}, Passwords: anybody{}, Now: s.now,
		Keys:   func(context.Context) (*secret.Keys, error) { return s.keys, nil },
		Access: 2 * time.Hour, Refresh: 30 * 24 * time.Hour, RefreshIdle: time.Hour, RefreshGrace: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put stores a family and returns its refresh token.
func (s *sns) put(change ...func(*store.Grant)) (id, token string) {
	s.t.Helper()
	g := store.Grant{
		ID: secret.ID(), Dialect: store.DialectVariantB, Client: "c", Subject: "u", Scopes: []string{"snsapi_login"},
		IssuedAt: s.now(), RotatedAt: s.now(), Expires: s.now().Add(30 * 24 * time.Hour), Generation: 1,
	}
	for _, f := range change {
		f(&g)
	}
	if err := s.b.beginFamily(s.t.Context(), g); err != nil {
		s.t.Fatal(err)
	}
	token, _ = encodeRefresh(s.keys, g.ID, 1, "c", store.DialectVariantB)
	return g.ID, token
}

func (s *sns) refresh(client, token string) (again string, err error) {
	s.t.Helper()
	form, err := httpx.ParseForm(url.Values{"refresh_token": {token}}.Encode())
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := s.b.Refresh(s.t.Context(), Request{Client: &oauth.Client{ID: client, Scopes: []string{"snsapi_login"}}, Form: form})
	if err != nil {
		return "", err
	}
	return p.Commit(s.t.Context())
}

func why(err error) Why {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r.Why
	}
	return ""
}

func TestVariantBRefreshTokenIsStableForThirtyDays(t *testing.T) {
	s := newSNS(t)
	id, token := s.put()
	for range 29 { // there is no idle end
		s.pass(24 * time.Hour)
		if again, err := s.refresh("c", token); err != nil || again != token {
			t.Fatalf("%q %v", again, err)
		}
		_, g, err := s.b.readFamily(t.Context(), id)
		if err != nil || g.Generation != 1 || !g.RotatedAt.Equal(s.now()) {
			t.Fatalf("%+v %v", g, err)
		}
	}
	s.pass(24 * time.Hour)
	if _, err := s.refresh("c", token); why(err) != Expired {
		t.Errorf("after thirty days: %v", err)
	}
	s.pass(3 * time.Hour)
	if _, _, err := s.b.readFamily(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the record stays: %v", err)
	}
	if _, err := s.refresh("c", token); why(err) != Expired {
		t.Errorf("when it is forgotten: %v", err)
	}
}

func TestVariantBRefreshRefusals(t *testing.T) {
	s := newSNS(t)
	_, token := s.put()
	_, revoked := s.put(func(g *store.Grant) { g.RevokedAt = s.now() })
	_, gone := s.put(func(g *store.Grant) { g.Subject = "nobody" })
	_, less := s.put(func(g *store.Grant) { g.Scopes = []string{"other"} })
	id, _ := s.put(func(g *store.Grant) { g.Dialect = store.DialectOAuth })
	oauths, _ := encodeRefresh(s.keys, id, 1, "c", store.DialectOAuth)
	crossed, _ := encodeRefresh(s.keys, id, 1, "c", store.DialectVariantB)
	if err := store.RecordVanished(t.Context(), s.store, "left", s.now()); err != nil {
		t.Fatal(err)
	}
	leftID, _ := s.put(func(g *store.Grant) { g.Client = "left" })
	left, _ := encodeRefresh(s.keys, leftID, 1, "left", store.DialectVariantB)
	for name, c := range map[string]struct {
		client, token string
		want          Why
	}{
		"another client":          {"d", token, Unknown},
		"nonsense":                {"c", "x", Unknown},
		"nothing":                 {"c", "", Unknown},
		"OAuth's":                 {"c", oauths, Unknown},
		"OAuth's family":          {"c", crossed, Unknown},
		"revoked":                 {"c", revoked, Revoked},
		"the user is gone":        {"c", gone, Revoked},
		"the client lost a scope": {"c", less, Rights},
		"the client had left":     {"left", left, Foreign},
	} {
		if _, err := s.refresh(c.client, c.token); why(err) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, why(err), err, c.want)
		}
	}
	if _, err := s.refresh("c", gone); why(err) != Revoked {
		t.Errorf("the family of a user who is gone lives: %v", err)
	}
	if _, err := s.refresh("c", token); err != nil {
		t.Error(err)
	}
}

func TestStoreFaultDuringVariantBRefreshIsAnError(t *testing.T) {
	s := newSNS(t)
	_, token := s.put()
	s.pass(time.Hour)
	form, _ := httpx.ParseForm(url.Values{"refresh_token": {token}}.Encode())
	p, err := s.b.Refresh(t.Context(), Request{Client: &oauth.Client{ID: "c", Scopes: []string{"snsapi_login"}}, Form: form})
	if err != nil {
		t.Fatal(err)
	}
	s.store.Fail(errContended)
	if _, err := p.Commit(t.Context()); why(err) != "" || !errors.Is(err, errContended) {
		t.Errorf("committing: %v", err)
	}
	if _, err := s.refresh("c", token); why(err) != "" || !errors.Is(err, errContended) {
		t.Errorf("preparing: %v", err)
	}
	s.store.Fail(nil)
	if _, err := s.refresh("c", token); err != nil {
		t.Error(err)
	}
}

// What is ended between the two steps of a refresh is not refreshed.
func TestGrantEndedDuringRefreshStaysEnded(t *testing.T) {
	s := newSNS(t)
	id, token := s.put()
	s.pass(time.Hour)
	form, _ := httpx.ParseForm(url.Values{"refresh_token": {token}}.Encode())
	p, err := s.b.Refresh(t.Context(), Request{Client: &oauth.Client{ID: "c", Scopes: []string{"snsapi_login"}}, Form: form})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.b.endFamily(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Commit(t.Context()); why(err) != Revoked {
		t.Errorf("%v", err)
	}
	if _, g, err := s.b.readFamily(t.Context(), id); err != nil || !g.Revoked() {
		t.Errorf("%+v %v", g, err)
	}
}

func TestParallelVariantBRefreshesAllSucceed(t *testing.T) {
	s := newSNS(t)
	_, token := s.put()
	s.pass(time.Hour)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			if _, err := s.refresh("c", token); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
