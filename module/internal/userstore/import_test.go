package userstore

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func imported(id, name string) Imported {
	return Imported{User: directory.User{ID: id, Username: name}, Hash: aHash}
}

// mustImport imports a user, which must be done as expected.
func mustImport(t *testing.T, s *Users, in Imported, mode ImportMode, want Outcome) string {
	t.Helper()
	id, done, err := s.Import(t.Context(), in, mode)
	if err != nil || done != want {
		t.Fatalf("%s: outcome %d, want %d: %v", in.User.Username, done, want, err)
	}
	return id
}

func TestImportedUsersKeepTheirIDsAndPasswords(t *testing.T) {
	s, _, _ := fresh(t)
	if id := mustImport(t, s, imported("1001", "ann"), ImportMode{}, Created); id != "1001" {
		t.Errorf("ann is %s", id)
	}
	if id := mustImport(t, s, imported("", "zoe\u0308"), ImportMode{}, Created); !strings.HasPrefix(id, "u-") {
		t.Errorf("zoe is %s", id)
	}
	plain := imported("", "bob")
	plain.Hash, plain.Password = "", "another staple"
	mustImport(t, s, plain, ImportMode{}, Created)
	for _, none := range []string{"", "!", "!unusable", "*"} {
		nobody := imported("", "none"+strings.Trim(none, "*"))
		nobody.Hash = none
		mustImport(t, s, nobody, ImportMode{}, map[bool]Outcome{true: Present}[none == "*"])
	}
	signsIn(t, s, "ann", "battery staple", true)
	signsIn(t, s, "ann", "battery staple", true) // with the better hash, too
	signsIn(t, s, "zo\u00eb", "battery staple", true)
	signsIn(t, s, "bob", "another staple", true)
	signsIn(t, s, "none!", "!", false)
	kept, _, err := s.readUser(t.Context(), "1001")
	if err != nil || !strings.HasPrefix(kept.PasswordHash, "$argon2id$") {
		t.Errorf("the hash after a sign-in: %v", err)
	}
}

func TestImportNeverMixesUpUsers(t *testing.T) {
	s, m, _ := fresh(t)
	mustImport(t, s, imported("1", "ann"), ImportMode{}, Created)
	mustImport(t, s, imported("2", "bob"), ImportMode{}, Created)
	with := func(in Imported, change func(*Imported)) Imported { change(&in); return in }
	records := m.Len()
	cases := map[string]struct {
		in          Imported
		field, want string
	}{
		"another's id":              {imported("1", "carl"), "id", "another username"},
		"another's name":            {imported("3", "ann"), "username", "another id"},
		"ids exchanged":             {imported("1", "bob"), "id", "another username"},
		"a name in capitals":        {imported("", "ANN"), "username", "letter case"},
		"no name":                   {imported("4", ""), "username", "missing"},
		"a client's id":             {imported("client:web", "dora"), "id", "kept for clients"},
		"an id with a space":        {imported("a b", "dora"), "id", "printable ASCII"},
		"no email":                  {with(imported("", "dora"), func(i *Imported) { i.User.Email = "nonsense" }), "email", "no @"},
		"both passwords":            {with(imported("", "dora"), func(i *Imported) { i.Password = "battery staple" }), "password", "one of them"},
		"no hash":                   {with(imported("", "dora"), func(i *Imported) { i.Hash = "hunter2hunter2" }), "password_hash", "known form"},
		"a hash of too much work":   {with(imported("", "dora"), func(i *Imported) { i.Hash = strings.Replace(aHash, "$04$", "$31$", 1) }), "password_hash", "more or less work"},
		"a short password":          {with(imported("", "dora"), func(i *Imported) { i.Hash, i.Password = "", "hunter2" }), "password", "fewer than 8"},
		"a hash for a password":     {with(imported("", "dora"), func(i *Imported) { i.Hash, i.Password = "", aHash }), "password", "password_hash"},
		"a control character":       {with(imported("", "dora"), func(i *Imported) { i.User.Name = "a\nb" }), "", "control character"},
		"claims that are too long":  {with(imported("", "dora"), func(i *Imported) { i.User.Claims = map[string]any{"a": strings.Repeat("x", maxClaims)} }), "claims", "longer"},
		"a picture that is no link": {with(imported("", "dora"), func(i *Imported) { i.User.Picture = "javascript:x" }), "picture", "https"},
	}
	for name, c := range cases {
		for _, mode := range []ImportMode{{}, {DryRun: true}, {Update: true}} {
			_, _, err := s.Import(t.Context(), c.in, mode)
			var field *directory.FieldError
			errors.As(err, &field)
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) || (field == nil) != (c.field == "") || field != nil && field.Field != c.field {
				t.Errorf("%s, %+v: %v", name, mode, err)
			}
			if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), aHash[10:])) {
				t.Errorf("%s: the error quotes the password: %v", name, err)
			}
		}
	}
	if m.Len() != records {
		t.Errorf("%d records of refused users", m.Len()-records)
	}
}

func TestImportDryRunChangesNothing(t *testing.T) {
	s, m, _ := fresh(t)
	mustImport(t, s, imported("1", "ann"), ImportMode{}, Created)
	before, _, _ := s.readUser(t.Context(), "1")
	records := m.Len()
	mustImport(t, s, imported("", "bob"), ImportMode{DryRun: true}, Created)
	mustImport(t, s, imported("1", "ann"), ImportMode{DryRun: true}, Present)
	changed := imported("1", "ann")
	changed.User.Name = "Ann"
	mustImport(t, s, changed, ImportMode{DryRun: true, Update: true}, Updated)
	changed.User.Locked = true
	mustImport(t, s, changed, ImportMode{DryRun: true, Update: true}, UpdatedAndLocked)
	after, _, _ := s.readUser(t.Context(), "1")
	if m.Len() != records || !reflect.DeepEqual(before, after) {
		t.Errorf("%+v became %+v, %d records more", before, after, m.Len()-records)
	}
}

func TestSecondImportChangesUsersOnlyWithUpdate(t *testing.T) {
	s, _, _ := fresh(t)
	first := imported("1", "ann")
	first.User.Name, first.User.Claims = "Ann", map[string]any{"team": "press", "floor": "2"}
	mustImport(t, s, first, ImportMode{}, Created)
	if err := s.SetPassword(t.Context(), "1", "a newer password"); err != nil {
		t.Fatal(err)
	}
	second := imported("", "ann")
	second.User.Email, second.User.Claims = "ann@example.com", map[string]any{"team": "sales"}
	mustImport(t, s, second, ImportMode{}, Present)
	if u, _, _ := s.Lookup(t.Context(), "1"); u.Email != "" || u.Claims["team"] != "press" {
		t.Errorf("without an update: %+v", u)
	}
	mustImport(t, s, second, ImportMode{Update: true}, Updated)
	mustImport(t, s, second, ImportMode{Update: true}, Present) // nothing is left to change
	want := directory.User{ID: "1", Username: "ann", Name: "Ann", Email: "ann@example.com", Claims: map[string]any{"team": "sales", "floor": "2"}}
	if u, _, _ := s.Lookup(t.Context(), "1"); !reflect.DeepEqual(u, want) {
		t.Errorf("after the update: %+v", u)
	}
	signsIn(t, s, "ann", "a newer password", true)
	signsIn(t, s, "ann", "battery staple", false)

	locks := imported("", "ann")
	locks.User.Locked = true
	mustImport(t, s, locks, ImportMode{Update: true}, UpdatedAndLocked)
	mustImport(t, s, second, ImportMode{Update: true}, Present)
	if u, _, _ := s.Lookup(t.Context(), "1"); !u.Locked {
		t.Error("an import has unlocked a user")
	}
	none := imported("", "bob")
	none.Hash = ""
	mustImport(t, s, none, ImportMode{}, Created)
	mustImport(t, s, imported("", "bob"), ImportMode{Update: true}, Updated)
	signsIn(t, s, "bob", "battery staple", true)
}

// A crash between the name and the user leaves a name. The same ID goes on at once, another when the name is old.
func TestInterruptedImportResumes(t *testing.T) {
	s, _, c := fresh(t)
	for _, name := range []string{"ann", "bob"} {
		if err := s.claimName(t.Context(), name, "id-"+name); err != nil {
			t.Fatal(err)
		}
	}
	mustImport(t, s, imported("id-ann", "ann"), ImportMode{}, Created)
	if _, _, err := s.Import(t.Context(), imported("", "bob"), ImportMode{}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "in a minute") {
		t.Errorf("a name that was just claimed: %v", err)
	}
	c.pass(orphaned)
	mustImport(t, s, imported("", "bob"), ImportMode{}, Created)
}

func TestParallelImportsCreateEachUserOnce(t *testing.T) {
	s, m, _ := fresh(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	created := 0
	for range 2 {
		for i := range 20 {
			wg.Go(func() {
				_, done, err := s.Import(t.Context(), imported(fmt.Sprint(i), fmt.Sprint("ann", i)), ImportMode{})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("user %d: %v", i, err)
				}
				if err == nil && done == Created {
					created++
				}
			})
		}
	}
	wg.Wait()
	if created != 20 || m.Len() != 40 {
		t.Errorf("%d created, %d records", created, m.Len())
	}
}

func TestImportDuringAStoreOutageFails(t *testing.T) {
	m := storetest.NewMemory(nil)
	s := users(t, m, nil)
	away := errors.New("away")
	m.Fail(away)
	if _, _, err := s.Import(t.Context(), imported("1", "ann"), ImportMode{}); !errors.Is(err, away) || errors.Is(err, ErrInvalid) || store.IsAnswer(err) {
		t.Errorf("%v", err)
	}
}

// Somebody else imports while a password is being hashed.
func TestConcurrentImportKeepsAnIDsFirstUser(t *testing.T) {
	for name, c := range map[string]struct {
		other   string
		refused bool
	}{"the same user": {"ann", false}, "another user": {"bob", true}} {
		s, _, _ := fresh(t)
		made := s.hash
		s.hash = func(pass string) string {
			s.hash = made
			put(t, s, c.other, aHash)
			return made(pass)
		}
		in := Imported{User: directory.User{ID: "id-" + c.other, Username: "ann"}, Password: "another staple"}
		id, done, err := s.Import(t.Context(), in, ImportMode{})
		if c.refused != errors.Is(err, ErrInvalid) || !c.refused && (err != nil || done != Present || id != "id-ann") {
			t.Errorf("%s: %s, %d, %v", name, id, done, err)
		}
		signsIn(t, s, c.other, "battery staple", true)
		if c.refused {
			mustImport(t, s, imported("", "ann"), ImportMode{}, Created) // the name is free again
		}
	}
}
