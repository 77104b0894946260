package authserver

import (
	"context"

	"github.com/gatehouse/gatehouse/module/internal/authserver/password"
)

const useTypedID = "typed client_id" // of the keys' secret

// unknownClient stands in an event for a client_id that no client has. It may be a secret that
// somebody typed into the wrong field, so the event has a keyed digest.
func (s *Server) unknownClient(ctx context.Context, id string) string {
	keys, err := s.Keys(ctx)
	if err != nil {
		return ""
	}
	return password.Pseudonym(keys.MAC(useTypedID, []byte(id))[:12])
}
