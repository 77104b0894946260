package gateway

import (
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
)

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
