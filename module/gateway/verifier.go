package gateway

import (
	"context"

	"github.com/gatehouse/gatehouse/module/token"
)

// verifier is the core's, under one configuration: the tokens of a client that was
// taken out of it die with the reload. A configuration without clients guards what an
// authorization server elsewhere issues, and knows nothing about its clients.
type verifier struct {
	core    *core
	clients *clients
}

// Verify implements guard.Verifier.
func (v verifier) Verify(ctx context.Context, raw string) (*token.Access, error) {
	access, err := v.core.Verify(ctx, raw)
	if err == nil && len(v.clients.byID) > 0 && v.clients.byID[access.Client] == nil {
		return nil, token.ErrInvalid
	}
	return access, err
}
