package gateway

import (
	"testing"

	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestUsersAreNeededForEveryGrantButThatOfMachines(t *testing.T) {
	for _, g := range append(oauth.DeprecatedGrantTypes, oauth.GrantTypes...) {
		c, _ := sideBySide(t)
		c.byID["web"].Grants = []oauth.GrantType{g}
		if got := (&App{clients: c}).needsUsers(t.Context()); got != (g != oauth.ClientCredentials) {
			t.Errorf("%s: %v", g, got)
		}
	}
}
