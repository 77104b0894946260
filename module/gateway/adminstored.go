package gateway

import "github.com/gatehouse/gatehouse/module/clientstore"

// stored are the clients in the store.
func (c *adminCall) stored() *clientstore.Clients { return c.clients.stored.Clients }
