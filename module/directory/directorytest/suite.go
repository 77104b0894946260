package directorytest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse/gatehouse/module/directory"
)

// The users of the suite. Names in the suite are written with escapes, so that no editor changes their normal form.
const (
	annPassword    = "correct horse battery staple"
	zoePassword    = "se\u00f1al 7"
	zoeComposed    = "zo\u00eb"
	zoeDecomposed  = "zoe\u0308"
	nulPassword    = "before\x00after"
	lockedPassword = "right but locked"
)

var longest = strings.Repeat("x", directory.MaxPassword)

func seeds() []Seed {
	return []Seed{
		{directory.User{
			ID: "u-ann", Username: "ann", Name: "Ann Example", Nickname: "Annie", Picture: "https://img.example/ann.png",
			Email: "ann@example.com", Phone: "+1 555 0100", Claims: map[string]any{"department": "press"},
		}, annPassword},
		{directory.User{ID: "u-zoe", Username: zoeDecomposed, Name: "Zo\u00eb"}, zoePassword},
		{directory.User{ID: "u-locked", Username: "lars", Locked: true}, lockedPassword},
		{directory.User{ID: "u-long", Username: "lena"}, longest},
		{directory.User{ID: "u-nul", Username: "nils"}, nulPassword},
	}
}

// Run holds a directory to its contract. open returns a directory with exactly
// these users; it is called once for every part of the suite.
func Run(t *testing.T, open func(t *testing.T, users []Seed) directory.Directory) {
	t.Run("signs a user in with everything it knows of them", func(t *testing.T) {
		d, want := open(t, seeds()), seeds()[0].User
		got := mustSignIn(t, d, "ann", annPassword)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Authenticate (-want +got):\n%s", diff)
		}
		got, ok, err := d.Lookup(t.Context(), "u-ann")
		if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
			t.Errorf("Lookup: ok %t, err %v (-want +got):\n%s", ok, err, diff)
		}
	})
	t.Run("identifies a user by name without the password, and nobody else", func(t *testing.T) { identifies(t, open(t, seeds())) })
	t.Run("refuses without an error", func(t *testing.T) { refuses(t, open(t, seeds())) })
	t.Run("takes a password of the greatest length and one with a NUL", func(t *testing.T) {
		d := open(t, seeds())
		mustSignIn(t, d, "lena", longest)
		mustSignIn(t, d, "nils", nulPassword)
	})
	t.Run("finds a name in either normal form and returns it composed", func(t *testing.T) {
		d := open(t, seeds())
		for _, typed := range []string{zoeComposed, zoeDecomposed} {
			if u := mustSignIn(t, d, typed, zoePassword); u.ID != "u-zoe" || u.Username != zoeComposed {
				t.Errorf("%+q signed in as ID %q, username %+q", typed, u.ID, u.Username)
			}
		}
	})
	t.Run("looks up a locked user and says that they are", func(t *testing.T) {
		u, ok, err := open(t, seeds()).Lookup(t.Context(), "u-locked")
		if err != nil || !ok || !u.Locked || u.Username != "lars" {
			t.Errorf("Lookup = %+v, %t, %v", u, ok, err)
		}
	})
	t.Run("looks nobody up under an ID that is not one", func(t *testing.T) {
		d := open(t, seeds())
		for _, id := range []string{"", "ann", "U-ANN", "u-ann ", "u-ann\x00", "u-", "*", zoeComposed} {
			if u, ok, err := d.Lookup(t.Context(), id); ok || err != nil || u.ID != "" {
				t.Errorf("Lookup(%q) = %+v, %t, %v", id, u, ok, err)
			}
		}
	})
	t.Run("works without any user", func(t *testing.T) {
		d := open(t, nil)
		mustRefuse(t, d, "ann", annPassword)
		if _, ok, err := d.Lookup(t.Context(), "u-ann"); ok || err != nil {
			t.Errorf("Lookup: ok %t, err %v", ok, err)
		}
	})
	t.Run("serves many callers at once, each with claims of their own", func(t *testing.T) { concurrent(t, open(t, seeds())) })
	t.Run("takes the same time to refuse an unknown, a wrong and a locked sign-in (E15, U13)", func(t *testing.T) {
		sameTime(t, open(t, seeds()))
	})
}

func refuses(t *testing.T, d directory.Directory) {
	cases := map[string]struct{ username, password string }{
		"a wrong password":                          {"ann", "correct horse battery stapler"},
		"the beginning of the password":             {"ann", annPassword[:4]},
		"a password in other letter case":           {"ann", strings.ToUpper(annPassword)},
		"a password with a space after it":          {"ann", annPassword + " "},
		"no password":                               {"ann", ""},
		"the password of another user":              {"ann", zoePassword},
		"an unknown user":                           {"nobody", annPassword},
		"an unknown user without a password":        {"nobody", ""},
		"no user name":                              {"", annPassword},
		"nothing at all":                            {"", ""},
		"an ID for a user name":                     {"u-ann", annPassword},
		"a pattern for a user name":                 {"*", annPassword},
		"a locked user with the right password":     {"lars", lockedPassword},
		"a locked user with a wrong password":       {"lars", annPassword},
		"a user name with a NUL after it":           {"ann\x00", annPassword},
		"a user name with a NUL and more after it":  {"ann\x00x", annPassword},
		"a password cut at its NUL":                 {"nils", "before"},
		"a password that differs after its NUL":     {"nils", "before\x00other"},
		"a password with a NUL after it":            {"ann", annPassword + "\x00"},
		"a password one byte too long":              {"lena", longest + "x"},
		"a password far too long":                   {"lena", strings.Repeat(longest, 64)},
		"a long password without its last byte":     {"lena", longest[1:]},
		"a user name far too long":                  {strings.Repeat("ann", 1<<16), annPassword},
		"a user name that is no UTF-8":              {"ann\xff", annPassword},
		"an unknown user with a password too long":  {"nobody", longest + "x"},
		"a password of two blanks for a known user": {"ann", "  "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { mustRefuse(t, d, c.username, c.password) })
	}
}

// identifies signs each user in first, as directories that can tell nothing without a
// password learn whose a name is from that.
func identifies(t *testing.T, d directory.Directory) {
	mustSignIn(t, d, "ann", annPassword)
	mustSignIn(t, d, zoeDecomposed, zoePassword)
	mustRefuse(t, d, "lars", lockedPassword)
	for typed, want := range map[string]string{"ann": "u-ann", zoeComposed: "u-zoe", zoeDecomposed: "u-zoe", "lars": "u-locked"} {
		if id, known, err := d.Identify(t.Context(), typed); id != want || !known || err != nil {
			t.Errorf("Identify(%+q) = %q, %t, %v, want %q", typed, id, known, err, want)
		}
	}
	for _, typed := range []string{"", "nobody", "*", "u-ann", "ann\x00", "ann\xff", strings.Repeat("ann", 1<<16)} {
		if id, known, err := d.Identify(t.Context(), typed); id != "" || known || err != nil {
			t.Errorf("Identify(%.40q) = %q, %t, %v, want nobody", typed, id, known, err)
		}
	}
}

func concurrent(t *testing.T, d directory.Directory) {
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			u, ok, err := d.Authenticate(t.Context(), "ann", annPassword)
			if err != nil || !ok || u.ID != "u-ann" || u.Claims["department"] != "press" {
				t.Errorf("Authenticate = %+v, %t, %v", u, ok, err)
				return
			}
			u.Claims["department"] = "changed by its caller"
		})
		group.Go(func() {
			for range 50 {
				u, ok, err := d.Lookup(t.Context(), "u-ann")
				if err != nil || !ok || u.ID != "u-ann" || u.Claims["department"] != "press" {
					t.Errorf("Lookup = %+v, %t, %v", u, ok, err)
					return
				}
				u.Claims["department"] = "changed by its caller"
			}
		})
		group.Go(func() {
			if u, ok, err := d.Authenticate(t.Context(), "lars", lockedPassword); ok || err != nil {
				t.Errorf("Authenticate of a locked user = %+v, %t, %v", u, ok, err)
			}
		})
	}
	group.Wait()
}

func mustSignIn(t *testing.T, d directory.Directory, username, password string) directory.User {
	t.Helper()
	u, ok, err := d.Authenticate(context.Background(), username, password)
	if err != nil || !ok {
		t.Fatalf("Authenticate(%+q) = %t, %v, want ok", username, ok, err)
	}
	return u
}

func mustRefuse(t *testing.T, d directory.Directory, username, password string) {
	t.Helper()
	u, ok, err := d.Authenticate(context.Background(), username, password)
	if err != nil || ok {
		t.Fatalf("Authenticate = %t, %v, want a refusal without error", ok, err)
	}
	if id := u.ID; id != "" {
		u.ID = ""
		if told, known, err := d.Identify(context.Background(), username); told != id || !known || err != nil {
			t.Fatalf("a refusal told the ID %q, and Identify %q, %t, %v", id, told, known, err)
		}
	}
	if diff := cmp.Diff(directory.User{}, u); diff != "" {
		t.Fatalf("a refusal told of the user: %s", diff)
	}
}
