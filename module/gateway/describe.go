package gateway

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
)

// Needs says what the guard that a request has passed asks of callers. It is nil where no
// guard stands, or one that refuses nothing.
func Needs(r *http.Request) func(method, path string) (scopes []string, public, denied bool) {
	g, ok := caddyhttp.GetVar(r.Context(), permitsVar).(*guard.Guard)
	if !ok {
		return nil
	}
	return g.Needs
}

// Describe gives the issuer of the configuration and the English texts of its scopes; ""
// where there is no global option gatehouse.
func Describe(ctx caddy.Context) (issuer string, texts map[string]string, err error) {
	v, err := ctx.AppIfConfigured(AppName)
	if errors.Is(err, caddy.ErrNotConfigured) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	app, ok := v.(*App)
	if !ok {
		return "", nil, fmt.Errorf("the app %s is of type %T", AppName, v)
	}
	texts = make(map[string]string, len(app.Scopes))
	for _, s := range app.Scopes {
		texts[s.Name] = s.Text["en"]
	}
	return app.issuer.String(), texts, nil
}
