package restapi

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/rest/cursor"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

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
	h.cursors = &cursors{app: app, server: app.Servers().AddAPI(ctx)}
	return nil
}

// sealer binds cursors to the site, the version and the caller: what an API has written into a
// cursor for one caller is not for another caller, nor for another API.
func (s *cursors) sealer(c *call) (*cursor.Sealer, error) {
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
	return cursor.NewSealer(keys, encoded), err
}
