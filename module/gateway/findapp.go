package gateway

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/admin"
)

// configuredApp returns the app of a configuration. The error is [caddy.ErrNotConfigured] if there
// is no global option gatehouse, and any other if something is wrong with it.
func configuredApp(ctx caddy.Context) (*App, error) {
	v, err := ctx.AppIfConfigured(AppName)
	if err != nil {
		return nil, err
	}
	app, ok := v.(*App)
	if !ok {
		return nil, fmt.Errorf("the app %s is of type %T", AppName, v)
	}
	return app, nil
}

// FindApp returns the configured app to a handler that is being provisioned; directive is the
// word that needs it.
func FindApp(ctx caddy.Context, directive string) (*App, error) {
	app, err := configuredApp(ctx)
	if errors.Is(err, caddy.ErrNotConfigured) {
		return nil, fmt.Errorf("%s needs the global option `gatehouse { issuer ... }`: %w", directive, err)
	}
	if err != nil {
		return nil, err
	}
	if err := app.servers.Add(ctx); err != nil {
		return nil, err
	}
	if directive != healthDirective { // health checks ask no client who it is
		app.servers.WarnForgeableAddress(ctx)
	}
	return app, nil
}

// Describe returns the issuer of the configuration and the English texts of its scopes; ""
// where there is no global option gatehouse.
func Describe(ctx caddy.Context) (issuer string, texts map[string]string, err error) {
	app, err := configuredApp(ctx)
	if errors.Is(err, caddy.ErrNotConfigured) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	texts = make(map[string]string, len(app.Scopes))
	for _, s := range app.Scopes {
		texts[s.Name] = s.Text["en"]
	}
	return app.issuer.String(), texts, nil
}

// runningApp is the app of the configuration in force, held until leave.
func runningApp() (_ *App, leave func(), err error) {
	app, err := configuredApp(caddy.ActiveContext())
	switch {
	case errors.Is(err, caddy.ErrNotConfigured) && caddy.Exiting():
		return nil, nil, admin.Refuse(http.StatusServiceUnavailable, "stopping", "the gateway is about to end")
	case errors.Is(err, caddy.ErrNotConfigured):
		return nil, nil, admin.Refuse(http.StatusServiceUnavailable, "not_configured",
			"the running configuration has no global option `gatehouse { issuer ... }`; load one that has")
	case err != nil:
		return nil, nil, err
	}
	if leave, err = app.lease.Enter(); err != nil {
		return nil, nil, err
	}
	return app, leave, nil
}
