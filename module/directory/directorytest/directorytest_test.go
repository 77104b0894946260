package directorytest

import (
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
)

func TestMemoryMeetsTheContract(t *testing.T) {
	Run(t, func(_ *testing.T, users []Seed) directory.Directory { return NewMemory(users...) })
}

func TestMemoryDirectoryLocksRemovesAndFails(t *testing.T) {
	m := NewMemory(seeds()...)
	m.SetLocked("u-ann", true)
	mustRefuse(t, m, "ann", annPassword)
	if u, ok, err := m.Lookup(t.Context(), "u-ann"); !u.Locked || !ok || err != nil {
		t.Errorf("Lookup of a locked user = %+v, %t, %v", u, ok, err)
	}
	m.SetLocked("u-ann", false)
	mustSignIn(t, m, "ann", annPassword)

	away := errors.New("directory away")
	m.Fail(away)
	if _, ok, err := m.Authenticate(t.Context(), "ann", annPassword); ok || !errors.Is(err, away) {
		t.Errorf("Authenticate while failing: %t, %v", ok, err)
	}
	if _, ok, err := m.Lookup(t.Context(), "u-ann"); ok || !errors.Is(err, away) {
		t.Errorf("Lookup while failing: %t, %v", ok, err)
	}
	m.Fail(nil)
	mustSignIn(t, m, "ann", annPassword)

	m.Remove("u-ann")
	m.Remove("u-ann")
	mustRefuse(t, m, "ann", annPassword)
	if _, ok, _ := m.Lookup(t.Context(), "u-ann"); ok {
		t.Error("a removed user is still there")
	}
}

func TestMemoryRefusesInvalidUsers(t *testing.T) {
	user := func(id, name string) Seed { return Seed{User: directory.User{ID: id, Username: name}} }
	cases := map[string][]Seed{
		"no ID":                        {user("", "ann")},
		"no user name":                 {user("1", "")},
		"an ID twice":                  {user("1", "ann"), user("1", "bob")},
		"a name twice in normal forms": {user("1", zoeComposed), user("2", zoeDecomposed)},
	}
	for name, users := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			NewMemory(users...)
		})
	}
}

func TestMissingHashIsDistinguishedFromNoise(t *testing.T) {
	const ms = time.Millisecond
	cases := map[string]struct {
		times []time.Duration
		want  bool
	}{
		"equal":                       {[]time.Duration{50 * ms, 50 * ms, 50 * ms}, true},
		"a busy machine":              {[]time.Duration{50 * ms, 61 * ms, 55 * ms}, true},
		"one kind without its hash":   {[]time.Duration{50 * ms, ms, 50 * ms}, false},
		"one kind with two hashes":    {[]time.Duration{50 * ms, 50 * ms, 100 * ms}, false},
		"plain comparisons all along": {[]time.Duration{200, 900, 400}, true},
	}
	for name, c := range cases {
		if got := alike(c.times); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
