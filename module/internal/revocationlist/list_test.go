package revocationlist

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// node is a list with a clock that is set by hand.
type node struct {
	*List
	store *storetest.Memory

	mu sync.Mutex
	t  time.Time
}

func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{t: time.Unix(1_800_000_000, 0)}
	n.store = storetest.NewMemory(n.now)
	l, err := New(Config{Store: n.store, MaxTokenLife: hour, Now: n.now})
	if err != nil {
		t.Fatal(err)
	}
	n.List = l
	return n
}

func (n *node) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.t
}

func (n *node) move(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.t = n.t.Add(d)
}

func TestInvalidRevocationsAreRefused(t *testing.T) {
	n := newNode(t)
	for _, rv := range []store.Revocation{
		{}, {Of: store.RevokeToken}, {Value: "x"}, {Of: "everything", Value: "x"},
		{Of: store.RevokeToken, Value: strings.Repeat("x", maxValue+1)},
	} {
		if err := n.Revoke(t.Context(), rv); err == nil {
			t.Errorf("%q %.10q was revoked", rv.Of, rv.Value)
		}
	}
	if n.store.Len() != 0 {
		t.Error("it was stored")
	}
	if err := n.Revoke(t.Context(), store.Revocation{Of: store.RevokeToken, Value: strings.Repeat("x", maxValue)}); err != nil {
		t.Error(err)
	}
}

func TestRevocationIsKeptWhileItsTokensCanLive(t *testing.T) {
	n := newNode(t)
	for _, of := range []store.RevocationOf{store.RevokeGrant, store.RevokeKey} {
		if err := n.Revoke(t.Context(), store.Revocation{Of: of, Value: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	n.move(time.Hour + jose.Leeway)
	if n.store.Len() != 2 {
		t.Error("forgotten too early")
	}
	n.move(2 * jose.Leeway)
	if n.store.Len() != 1 {
		t.Error("want only the key's: forgeries under it can have any expiry")
	}
}

func TestSetForgetsExpiredEntries(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	began := now
	s := newSet(100, func() time.Duration { return now.Sub(began) })
	grant := func(i int, life time.Duration) {
		s.add(ofGrant, store.Revocation{Of: store.RevokeGrant, Value: strconv.Itoa(i), At: now}, now.Add(life), now)
	}
	for i := range 100 {
		grant(i, time.Minute+time.Duration(i%2)*time.Hour)
	}
	for i := range 100 {
		now = now.Add(time.Second)
		if i%2 == 0 {
			grant(0, time.Hour)
		}
	}
	if len(s.unnamed.order) != s.size {
		t.Errorf("%d items in the heap for %d: prolonging one must not grow it", len(s.unnamed.order), s.size)
	}
	for i := 100; i < 149; i++ {
		grant(i, time.Hour)
	}
	if s.folded != 0 || s.size != 100 {
		t.Errorf("%d were folded though half have expired", s.folded)
	}
	if !s.revokes(&Token{Grant: "0", IssuedAt: now}) || s.revokes(&Token{Grant: "2", IssuedAt: now}) || !s.revokes(&Token{Grant: "1", IssuedAt: now}) {
		t.Error("the wrong ones were forgotten")
	}
	now = now.Add(24 * time.Hour)
	if s.prune(1 << 20); s.size != 0 || len(s.unnamed.order) != 0 || len(s.index) != 0 || s.count[ofGrant] != 0 {
		t.Errorf("%d are held a day later", s.size)
	}
}

// N17: a clock that was set forward for a moment, such as one that took local time for UTC, makes no revoked token
// valid again when it is right.
func TestClockJumpRevivesNoRevokedToken(t *testing.T) {
	n := newNode(t)
	n.set.elapsed = func() time.Duration { return 0 } // the jump takes no time
	revoke := func(id string) {
		t.Helper()
		if err := n.Revoke(t.Context(), store.Revocation{Of: store.RevokeToken, Value: id}); err != nil {
			t.Fatal(err)
		}
	}
	revoke("one")
	n.move(12 * time.Hour)
	revoke("another")
	n.move(-12 * time.Hour)
	if revoked, err := n.Revoked(Token{ID: "one", IssuedAt: n.now()}); !revoked {
		t.Errorf("N17 %v", err)
	}
}
