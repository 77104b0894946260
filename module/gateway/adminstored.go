package gateway

import (
	"slices"

	"github.com/gatehouse/gatehouse/module/clientstore"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// stored are the clients in the store.
func (c *adminCall) stored() *clientstore.Clients {
	scopes := slices.Clone(oauth.BuiltinScopes)
	for _, s := range c.Scopes {
		scopes = append(scopes, s.Name)
	}
	s, _ := clientstore.New(clientstore.Config{
		Store: c.core.store, Revocations: c.core.revocations, Scopes: scopes,
		Taken: func(id string) bool { return c.clients.byID[id] != nil },
	})
	return s
}
