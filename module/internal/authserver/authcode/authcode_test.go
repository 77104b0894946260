package authcode

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func newCodes(t *testing.T) (Codes, *storetest.Memory) {
	t.Helper()
	m := storetest.NewMemory(nil)
	return Codes{Store: m, Attempts: lockout.NewBook(100, time.Now), PerUser: 2}, m
}

func TestCodesPerUserAreLimited(t *testing.T) {
	c, _ := newCodes(t)
	for n, user := range []string{"ann", "ann", "bob"} {
		if err := c.Count(user); err != nil {
			t.Errorf("code %d of %s: %v", n, user, err)
		}
	}
	var refused *oauth.Error
	if err := c.Count("ann"); !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests || refused.RetryAfter < 1 {
		t.Errorf("the third code of ann: %v", err)
	}
}

func TestCodeIsStoredOnceAndOutlivesItsForm(t *testing.T) {
	c, m := newCodes(t)
	key := store.Key{Kind: store.KindCode, ID: "digest"}
	expires := time.Now().Add(time.Minute)
	code := &store.Code{State: store.CodeIssued, Subject: "ann"}
	if err := c.Add(t.Context(), key, code, expires); err != nil {
		t.Fatal(err)
	}
	r, err := m.Get(t.Context(), key)
	if err != nil || r.Parent != "" || code.Grant != store.GrantOf("", "digest") || !r.Expires.Equal(expires.Add(Margin)) {
		t.Errorf("%+v, %v", r, err)
	}
	if err := c.Add(t.Context(), key, code, expires); !errors.Is(err, store.ErrExists) {
		t.Errorf("added again: %v", err)
	}
}

func TestRevokedCodeStaysInTheStore(t *testing.T) {
	for name, test := range map[string]struct{ state, want store.CodeState }{
		"issued":  {store.CodeIssued, store.CodeRevoked},
		"claimed": {store.CodeClaimed, store.CodeRevoked},
		"used":    {store.CodeUsed, store.CodeUsed},
		"revoked": {store.CodeRevoked, store.CodeRevoked},
	} {
		c, m := newCodes(t)
		key := store.Key{Kind: store.KindCode, ID: name}
		if err := c.Add(t.Context(), key, &store.Code{State: test.state, Grant: "g"}, time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		var got store.Code
		err := c.Revoke(t.Context(), key)
		if _, readErr := store.Read(t.Context(), m, key, &got); err != nil || readErr != nil || got.State != test.want {
			t.Errorf("%s: %s, %v, %v", name, got.State, err, readErr)
		}
	}
	c, m := newCodes(t)
	absent := store.Key{Kind: store.KindCode, ID: "absent"}
	err := c.Revoke(t.Context(), absent)
	if _, readErr := m.Get(t.Context(), absent); err != nil || !errors.Is(readErr, store.ErrNotFound) {
		t.Errorf("an absent code: %v, then %v", err, readErr)
	}
}

func TestCodeEndsWithSessionUserAndConsent(t *testing.T) {
	type change func(*testing.T, *storetest.Memory)
	nothing := func(*testing.T, *storetest.Memory) {}
	end := func(of func(*ending.Ender, *testing.T) error) change {
		return func(t *testing.T, m *storetest.Memory) {
			t.Helper()
			e, err := ending.NewEnder(ending.Config{Store: m, Revocations: noFeed{}, Now: time.Now})
			if err == nil {
				err = of(e, t)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		happens change
		want    bool
	}{
		"nothing ended": {nothing, true},
		"the session ended": {func(t *testing.T, m *storetest.Memory) {
			t.Helper()
			if err := m.Delete(t.Context(), store.Key{Kind: store.KindSession, ID: "s"}); err != nil {
				t.Fatal(err)
			}
		}, false},
		"the user was ended":       {end(func(e *ending.Ender, t *testing.T) error { return e.EndSubject(t.Context(), "ann") }), false},
		"the permission was ended": {end(func(e *ending.Ender, t *testing.T) error { return e.EndPair(t.Context(), "web", "ann") }), false},
		"another client was ended": {end(func(e *ending.Ender, t *testing.T) error { return e.EndPair(t.Context(), "other", "ann") }), true},
		"another user was ended":   {end(func(e *ending.Ender, t *testing.T) error { return e.EndSubject(t.Context(), "bob") }), true},
	} {
		c, m := newCodes(t)
		session := store.Record{Key: store.Key{Kind: store.KindSession, ID: "s"}, Value: []byte("{}"), Expires: time.Now().Add(time.Hour)}
		if _, err := m.Create(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		test.happens(t, m)
		if allowed, err := c.StillAllowed(t.Context(), "web", "ann", "s", store.Epochs{}); err != nil || allowed != test.want {
			t.Errorf("%s: %v, %v", name, allowed, err)
		}
	}
}

// noFeed is a revocation feed that no guard follows.
type noFeed struct{}

func (noFeed) Revoke(context.Context, store.Revocation) error { return nil }
