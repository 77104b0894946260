package restapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/rest/conditional"
	"github.com/gatehouse/gatehouse/module/internal/rest/cursor"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// cursors seals the cursors of lists with the gateway's secret.
type cursors struct {
	keys   conditional.Keys
	server func() string // see gateway.App.APIServer
}

// provisionCursors finds the secret if a list has a cursor.
func (h *REST) provisionCursors(ctx caddy.Context) error {
	if h.cursors != nil || !anyResource(h.tables(), func(r *resource.Resource) bool { return r.List != nil && r.List.ByCursor() }) {
		return nil
	}
	app, err := gateway.FindApp(ctx, "api_rest")
	if err != nil {
		return fmt.Errorf("cursors of lists are sealed with its secret: %w", err)
	}
	h.cursors = &cursors{keys: keysOf(app), server: app.Servers().AddAPI(ctx)}
	return nil
}

// keysOfTags returns the keys that hide tags of the API; nil if no resource has tags or there is no secret.
func keysOfTags(ctx caddy.Context, tables []*routes.Table) (conditional.Keys, error) {
	if !anyResource(tables, func(r *resource.Resource) bool { return r.ETag }) {
		return nil, nil
	}
	app, err := gateway.FindApp(ctx, "api_rest")
	if errors.Is(err, caddy.ErrNotConfigured) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return keysOf(app), nil
}

// keysOf returns the keys of an app to requests.
func keysOf(app *gateway.App) conditional.Keys {
	return func(ctx context.Context) (*secret.Keys, error) {
		release, err := app.Hold()
		if err != nil {
			return nil, err
		}
		defer release()
		return app.Keys(ctx)
	}
}

// sealer binds cursors to the site, the version and the caller: a cursor that an API made for one
// caller is of no use to another caller, nor for another API.
func (s *cursors) sealer(c *call) (*cursor.Sealer, error) {
	keys, err := s.keys(c.Request.Context())
	if err != nil {
		return nil, err
	}
	scope := []string{siteOf(c.Request, s.server), c.Prefix}
	if c.VersionPrefix == "" { // either the prefix or the media type names the version
		scope[1] += c.MediaType
	}
	if access := c.Access; access != nil {
		scope = append(scope, access.Client, access.Subject)
	}
	encoded, err := json.Marshal(scope)
	return cursor.NewSealer(keys, encoded), err
}

// siteOf identifies the site that a client asked: the host, and the server where there are several.
// Sites share the store, and an answer or cursor of one must not be taken for that of another. The
// port is left out, since nodes and proxies may have their own.
func siteOf(r *http.Request, server func() string) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(host)
	if name := server(); name != "" {
		return name + "\x00" + host
	}
	return host
}
