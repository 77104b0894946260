package restapi

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// useCursor names the key that seals cursors of lists. It is the same on all nodes.
const useCursor = "rest cursor"

// cursors seals the cursors of lists with the gateway's secret.
type cursors struct {
	app    *gateway.App
	server func() string // see gateway.App.APIServer
	keys   *secret.Keys  // instead of the gateway's, where there is none
}

// takeCursors finds the secret, when a list has a cursor.
func (h *REST) takeCursors(ctx caddy.Context) error {
	byCursor := func(r *resource.Resource) bool { return r.List != nil && r.List.ByCursor() }
	if h.cursors != nil || !h.declares(byCursor) {
		return nil
	}
	app, err := gateway.FindApp(ctx, "api_rest")
	if err != nil {
		return fmt.Errorf("api_rest: cursors of lists are sealed with its secret: %w", err)
	}
	h.cursors = &cursors{app: app, server: app.APIServer(ctx)}
	return nil
}

// sealer makes and opens the cursors of one client's request.
type sealer struct {
	keys  *secret.Keys
	scope []byte // who asks, at which site, and through which version
}

// sealer binds cursors to the site, the version and the caller: what an upstream has written
// into a cursor for one caller is not for another, nor for another upstream.
func (s *cursors) sealer(c *call) (*sealer, error) {
	keys := s.keys
	if keys == nil {
		release, err := s.app.Hold()
		if err != nil {
			return nil, err
		}
		defer release()
		if keys, err = s.app.Keys(c.Request.Context()); err != nil {
			return nil, err
		}
	}
	scope := []string{site(c.Request, s.server), c.Prefix}
	if access := c.Access; access != nil {
		scope = append(scope, access.Client, access.Subject)
	}
	encoded, err := json.Marshal(scope)
	return &sealer{keys, encoded}, err
}

// Seal implements list.Sealer. A page that has not changed has the same cursor again, so that
// its ETag is the same. Cursors that are alike lead the same caller to the same page of the same
// list, which that caller knows already.
func (s *sealer) Seal(plain, bound []byte) string {
	return s.keys.SealRepeatable(useCursor, plain, s.whole(bound))
}

// Open implements list.Sealer.
func (s *sealer) Open(sealed string, bound []byte) ([]byte, error) {
	return s.keys.Open(useCursor, sealed, s.whole(bound))
}

// whole puts the scope in front, a JSON text like what follows, so that neither runs into the
// other.
func (s *sealer) whole(bound []byte) []byte {
	return append(append([]byte(nil), s.scope...), bound...)
}
