package authserver_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

// lookalikes has two users whose names differ in an accent, and takes each for the one whose name was typed last.
type lookalikes struct{ *directorytest.Memory }

func (lookalikes) Identify(context.Context, string) (string, bool, error) {
	return "u-mallory", false, nil
}

// Whoever has a name like that of a victim must not guess the victim's password with the counts of the own browser, nor
// take from the victim's browser the counts that it has.
func TestKnownBrowserIsNotThatOfALookalike(t *testing.T) { // N06
	g := newTokenRig(t, func(c *authserver.Config) {
		c.Directory = lookalikes{directorytest.NewMemory(
			directorytest.Seed{User: directory.User{ID: "u-joe", Username: "joe"}, Password: annsPassword},
			directorytest.Seed{User: directory.User{ID: "u-mallory", Username: "j\u00f6e"}, Password: "mallory's"},
		)}
	})
	victim, mallory := g.home([2]string{"joe", annsPassword}), g.home([2]string{"j\u00f6e", "mallory's"})
	g.lockOut("joe")
	if status := mallory.tries("joe", annsPassword); status != http.StatusUnauthorized {
		t.Errorf("a guess beyond the limit: %d", status)
	}
	if status := victim.tries("joe", annsPassword); status != http.StatusSeeOther {
		t.Errorf("the victim at a known browser: %d", status)
	}
}
