package gateway

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
)

// Needs says what callers must have. Two are equal when they are one guard's.
type Needs interface {
	// Needs are the scopes that a method on a path asks for, unless it is public, or denied
	// to everybody. It MUST NOT depend on who calls.
	Needs(method, path string) (scopes []string, public, denied bool)
}

// NeedsOf are those of the guard which a request has passed. It is nil where no guard
// stands, or one that refuses nothing.
func NeedsOf(r *http.Request) Needs {
	g, ok := caddyhttp.GetVar(r.Context(), permitsVar).(*guard.Guard)
	if !ok {
		return nil
	}
	return g
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
