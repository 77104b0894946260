package admin

import (
	"context"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

type noRevoker struct{}

func (noRevoker) Revoke(context.Context, store.Revocation) error { return nil }

func TestUsersAreNeededForEveryGrantButThatOfMachines(t *testing.T) {
	stored, err := clientstore.New(clientstore.Config{Store: storetest.NewMemory(nil), Revocations: noRevoker{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, grant := range append(oauth.DeprecatedGrantTypes, oauth.GrantTypes...) {
		g := &Config{Stored: stored, Configured: map[string]*oauth.Client{"web": {ID: "web", Grants: []oauth.GrantType{grant}}}}
		if got := g.needsUsers(t.Context()); got != (grant != oauth.ClientCredentials) {
			t.Errorf("%s: %v", grant, got)
		}
	}
}
