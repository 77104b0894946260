package userstore

import (
	"context"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
	"github.com/gatehouse/gatehouse/plugins/store/bolt"
)

// aHash is one of the password "battery staple" that costs next to nothing.
const aHash = "$2b$04$abcdefghijklmnopqrstuuhfdSToe28Z2OzxmmHxfI3lnNDfjxoF6"

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func users(t *testing.T, b store.Backend, now func() time.Time) *Users {
	t.Helper()
	s, err := New(Config{Store: b, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fresh(t *testing.T) (*Users, *storetest.Memory, *clock) {
	t.Helper()
	c := newClock()
	m := storetest.NewMemory(c.now)
	return cheaply(t, users(t, m, c.now)), m, c
}

func create(t *testing.T, s *Users, name string) directory.User {
	t.Helper()
	u, err := s.Create(t.Context(), directory.User{Username: name}, "battery staple")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// cheaply makes users whose hashes are dear enough for the suite's timing to see them
// and cheap enough for a build machine.
func cheaply(t *testing.T, s *Users) *Users {
	t.Helper()
	b64 := base64.RawStdEncoding.EncodeToString
	s.hash = func(pass string) string {
		salt := []byte("a salt of a test")
		return "$argon2id$v=19$m=4096,t=2,p=1$" + b64(salt) + "$" + b64(argon2.IDKey([]byte(pass), salt, 2, 4096, 1, 32))
	}
	return s
}

func contract(t *testing.T, open func(t *testing.T) store.Backend) {
	directorytest.Run(t, func(t *testing.T, seeds []directorytest.Seed) directory.Directory {
		s := cheaply(t, users(t, open(t), nil))
		for _, seed := range seeds {
			u := seed.User
			u.Username = canonicalName(u.Username)
			if err := s.createUser(t.Context(), u, s.hash(canonicalName(seed.Password))); err != nil {
				t.Fatal(err)
			}
		}
		return s
	})
}

func TestStoreMeetsTheDirectoryContract(t *testing.T) {
	contract(t, func(*testing.T) store.Backend { return storetest.NewMemory(nil) })
}

func TestBoltStoreMeetsTheDirectoryContract(t *testing.T) {
	contract(t, func(t *testing.T) store.Backend {
		b, err := bolt.Open(bolt.Options{Path: filepath.Join(t.TempDir(), "state.db")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		return b
	})
}

func TestUserIsCreatedFoundListedUpdatedAndDeleted(t *testing.T) {
	s, _, _ := fresh(t)
	ctx := t.Context()
	u, err := s.Create(ctx, directory.User{ID: "mine", Username: "zoe\u0308", Email: "zoe@example.com", Claims: map[string]any{"team": "press"}}, "battery staple")
	if err != nil || !strings.HasPrefix(u.ID, "u-") || len(u.ID) < 24 || u.Username != "zo\u00eb" {
		t.Fatalf("%+v, %v", u, err)
	}
	if got, ok, err := s.Find(ctx, "zoe\u0308"); !ok || err != nil || got.ID != u.ID || got.Claims["team"] != "press" {
		t.Errorf("Find = %+v, %t, %v", got, ok, err)
	}
	for _, none := range []string{"", "ZO\u00cb", "zoe", "nobody", strings.Repeat("z", 5000)} {
		if got, ok, err := s.Find(ctx, none); ok || err != nil || got.ID != "" {
			t.Errorf("Find(%q) = %+v, %t, %v", none, got, ok, err)
		}
	}
	if err := s.SetPassword(ctx, u.ID, "another staple"); err != nil {
		t.Fatal(err)
	}
	signsIn(t, s, "zo\u00eb", "battery staple", false)
	signsIn(t, s, "zo\u00eb", "another staple", true)
	if err := s.SetLocked(ctx, u.ID, true); err != nil {
		t.Fatal(err)
	}
	signsIn(t, s, "zo\u00eb", "another staple", false)
	if got, ok, err := s.Lookup(ctx, u.ID); !ok || !got.Locked || err != nil {
		t.Errorf("Lookup = %+v, %t, %v", got, ok, err)
	}
	if err := s.SetLocked(ctx, u.ID, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(ctx, u.ID, func(u *directory.User) error { u.Name = "Zo\u00eb"; u.Claims = nil; return nil }); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := s.Lookup(ctx, u.ID); got.Name != "Zo\u00eb" || got.Claims != nil || got.Email != "zoe@example.com" {
		t.Errorf("after Update: %+v", got)
	}
	signsIn(t, s, "zo\u00eb", "another staple", true)
	if err := s.Delete(ctx, u.ID); err != nil {
		t.Fatal(err)
	}
	signsIn(t, s, "zo\u00eb", "another staple", false)
	if _, ok, err := s.Lookup(ctx, u.ID); ok || err != nil {
		t.Errorf("a deleted user is there: %v", err)
	}
	again := create(t, s, "zo\u00eb")
	if again.ID == u.ID {
		t.Error("the ID was used again")
	}
	for name, err := range map[string]error{
		"SetPassword": s.SetPassword(ctx, u.ID, "battery staple"), "SetLocked": s.SetLocked(ctx, u.ID, true), "Delete": s.Delete(ctx, u.ID),
		"Update": s.Update(ctx, u.ID, func(*directory.User) error { return nil }),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s of a deleted user: %v", name, err)
		}
	}
}

func signsIn(t *testing.T, s *Users, name, pass string, want bool) {
	t.Helper()
	if _, ok, err := s.Authenticate(t.Context(), name, pass); ok != want || err != nil {
		t.Errorf("Authenticate(%q) = %t, %v, want %t", name, ok, err, want)
	}
}

func TestUserListContinuesAfterTheLastID(t *testing.T) {
	s, _, _ := fresh(t)
	s.hash = func(string) string { return aHash }
	want := map[string]bool{}
	for i := range 7 {
		want[create(t, s, "user"+string(rune('a'+i))).ID] = true
	}
	after, pages := "", 0
	for {
		page, err := s.List(t.Context(), after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		pages++
		for _, u := range page {
			if !want[u.ID] || u.ID <= after {
				t.Errorf("unexpected %q behind %q", u.ID, after)
			}
			delete(want, u.ID)
			after = u.ID
		}
	}
	if len(want) != 0 || pages != 3 {
		t.Errorf("%d users missing after %d pages", len(want), pages)
	}
}

func TestInvalidUsersAndPasswordsAreRefused(t *testing.T) {
	s, m, _ := fresh(t)
	good := directory.User{Username: "ann"}
	cases := map[string]struct {
		user directory.User
		pass string
		want string
	}{
		"seven bytes":         {good, "1234567", "fewer than 8"},
		"1,025 bytes":         {good, strings.Repeat("x", 1025), "more than 1024"},
		"no UTF-8":            {good, "password\xff", "UTF-8"},
		"a NUL":               {good, "pass\x00word", "NUL"},
		"no name":             {directory.User{}, "battery staple", "username is missing"},
		"a name too long":     {directory.User{Username: strings.Repeat("x", 257)}, "battery staple", "longer than 256"},
		"a control character": {directory.User{Username: "ann", Name: "Ann\r\nX: y"}, "battery staple", "control character"},
		"a space before":      {directory.User{Username: " ann"}, "battery staple", "space"},
		"a script":            {directory.User{Username: "ann", Picture: "javascript:alert(1)"}, "battery staple", "https"},
		"no address":          {directory.User{Username: "ann", Email: "nonsense"}, "battery staple", "the email has no @"},
		"claims too long":     {directory.User{Username: "ann", Claims: map[string]any{"a": strings.Repeat("x", maxClaims)}}, "battery staple", "claims"},
		"claims of no JSON":   {directory.User{Username: "ann", Claims: map[string]any{"a": func() {}}}, "battery staple", "claims"},
	}
	for name, c := range cases {
		_, err := s.Create(t.Context(), c.user, c.pass)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.pass) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if m.Len() != 0 {
		t.Errorf("%d records of refused users", m.Len())
	}
	u := create(t, s, "ann")
	if err := s.SetPassword(t.Context(), u.ID, "short"); !errors.Is(err, ErrInvalid) {
		t.Errorf("SetPassword: %v", err)
	}
	for name, change := range map[string]func(*directory.User){
		"ID": func(u *directory.User) { u.ID = "u-2" }, "name": func(u *directory.User) { u.Username = "bob" },
		"picture": func(u *directory.User) { u.Picture = "x" },
	} {
		if err := s.Update(t.Context(), u.ID, func(u *directory.User) error { change(u); return nil }); !errors.Is(err, ErrInvalid) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	mine := errors.New("mine")
	if err := s.Update(t.Context(), u.ID, func(*directory.User) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("Update: %v", err)
	}
}

func TestOutdatedHashIsReplacedUnlessThePasswordChanged(t *testing.T) {
	c := newClock()
	m := storetest.NewMemory(c.now)
	s := users(t, m, c.now)
	u := create(t, s, "ann")
	old := "$6$saltstring$.r0X7ub5wGR2v4Xz7svCIozfnlorFh19V89t8KC9Umd81uGhFgsyTRNyzQDXDIm17fFcR9z3z7oBNdsyYBbtm/"
	outdate := func() {
		if err := s.changeUser(t.Context(), u.ID, func(kept *store.User) error { kept.PasswordHash = old; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	hash := func() string {
		kept, _, err := s.readUser(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		return kept.PasswordHash
	}
	outdate()
	signsIn(t, s, "ann", "wrong horse", false)
	if hash() != old {
		t.Error("a wrong password replaced the hash")
	}
	for range 20 { // a busy machine may take longer than a sign-in waits
		if signsIn(t, s, "ann", "correct horse", true); strings.HasPrefix(hash(), "$argon2id$") {
			break
		}
	}
	if !strings.HasPrefix(hash(), "$argon2id$") {
		t.Errorf("the hash is still %s", hash())
	}
	signsIn(t, s, "ann", "correct horse", true)

	// The user sets another password while the old one's better hash is being made.
	outdate()
	made := s.hash
	s.hash = func(pass string) string {
		s.hash = made
		if err := s.SetPassword(t.Context(), u.ID, "a newer password"); err != nil {
			t.Error(err)
		}
		return made(pass)
	}
	signsIn(t, s, "ann", "correct horse", true)
	signsIn(t, s, "ann", "a newer password", true)
	signsIn(t, s, "ann", "correct horse", false)

	// A store that takes no writes does not keep anybody out.
	outdate()
	s.hash = func(pass string) string { m.LoseReply(errors.New("lost")); return made(pass) }
	signsIn(t, s, "ann", "correct horse", true)
}

func TestStoreOutageIsAnErrorForEveryUserOperation(t *testing.T) {
	s, m, _ := fresh(t)
	u := create(t, s, "ann")
	away := errors.New("store away")
	m.Fail(away)
	ctx := context.Background()
	_, _, signIn := s.Authenticate(ctx, "ann", "battery staple")
	_, _, unknown := s.Authenticate(ctx, "nobody", "battery staple")
	_, _, lookup := s.Lookup(ctx, u.ID)
	_, _, find := s.Find(ctx, "ann")
	_, list := s.List(ctx, "", 10)
	_, created := s.Create(ctx, directory.User{Username: "bob"}, "battery staple")
	for name, err := range map[string]error{
		"Authenticate": signIn, "Authenticate of nobody": unknown, "Lookup": lookup, "Find": find, "List": list, "Create": created,
		"SetLocked": s.SetLocked(ctx, u.ID, true), "Delete": s.Delete(ctx, u.ID), "SetPassword": s.SetPassword(ctx, u.ID, "another staple"),
	} {
		if !errors.Is(err, away) || errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whoever deletes again, because the first time failed, takes "there is none" for done.
func TestUserIsGoneOnceAReplicaHasIt(t *testing.T) {
	s, m, _ := fresh(t)
	u, alone := create(t, s, "ann"), errors.New("no replica")
	m.LoseReplicas(alone)
	if err := s.Delete(t.Context(), u.ID); !errors.Is(err, alone) {
		t.Fatal(err)
	}
	for _, name := range []string{u.ID, u.Username, "nobody"} {
		if err := s.ConfirmGone(t.Context(), name); !errors.Is(err, alone) {
			t.Errorf("%s without a replica: %v", name, err)
		}
	}
	m.LoseReplicas(nil)
	for _, name := range []string{u.ID, u.Username, "nobody", "", strings.Repeat("x", 2000)} {
		if err := s.ConfirmGone(t.Context(), name); err != nil {
			t.Errorf("%.20s: %v", name, err)
		}
	}
}
