package userstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// put adds a user with a hash.
func put(t *testing.T, s *Users, name, hash string) {
	t.Helper()
	if err := s.createUser(t.Context(), directory.User{ID: "id-" + name, Username: name}, hash); err != nil {
		t.Fatal(err)
	}
}

func TestUnknownUserCostsATypicalHash(t *testing.T) {
	c := newClock()
	m := storetest.NewMemory(c.now)
	here, other := users(t, m, c.now), users(t, m, c.now)
	cost := func(s *Users) password.Cost {
		t.Helper()
		signsIn(t, s, "nobody", "battery staple", false)
		return s.common.Dummy().Cost()
	}
	imported, err := password.Parse(aHash)
	if err != nil {
		t.Fatal(err)
	}
	if cost(here) != password.Usual() || cost(other) != password.Usual() {
		t.Error("without users it is not that of a new hash")
	}
	m.Fail(errors.New("away"))
	down := users(t, m, c.now)
	down.sampleCosts(t.Context())
	m.Fail(nil)
	for i := range 3 {
		put(t, here, fmt.Sprint("ann", i), aHash)
	}
	if cost(down) != imported.Cost() {
		t.Error("a sample that failed was not repeated")
	}
	if cost(users(t, m, c.now)) != imported.Cost() {
		t.Error("a node that starts does not know the hashes in the store")
	}
	c.pass(sampleEvery)
	if cost(other) != imported.Cost() {
		t.Error("a node does not learn of users who were imported at another")
	}
}

func TestUserWithoutPasswordIsRefusedLikeAnUnknownOne(t *testing.T) {
	s, _, _ := fresh(t)
	put(t, s, "ann", "")
	for _, pass := range []string{"", "battery staple"} {
		signsIn(t, s, "ann", pass, false)
	}
	if err := s.SetPassword(t.Context(), "id-ann", "battery staple"); err != nil {
		t.Fatal(err)
	}
	signsIn(t, s, "ann", "battery staple", true)
}

// A hash that is compared in no time must not tell who exists, nor must a user without one.
func TestFastHashesTakeTheTimeOfSlowOnes(t *testing.T) {
	s, _, _ := fresh(t)
	put(t, s, "quick", "{SHA}L55TUjtiq8FBorTWAZ0jy6g129A=")
	put(t, s, "none", "")
	for _, name := range []string{"quick", "none", "nobody"} {
		least := time.Hour
		for range 3 {
			began := time.Now()
			signsIn(t, s, name, "wrong", false)
			least = min(least, time.Since(began))
		}
		if least < time.Millisecond { // no machine fills 46 MiB of memory in it
			t.Errorf("%s is refused in %v", name, least)
		}
	}
}
