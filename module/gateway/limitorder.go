package gateway

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// CheckLimitOrder refuses a limit by caller whose guard comes behind it in the same list of
// routes: it would limit nobody, silently. It looks at the whole server, since a handler
// that is provisioned does not know where it is.
func (a *App) CheckLimitOrder(ctx caddy.Context) error {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return nil
	}
	found := a.layout.follow(server).Misplaced
	if len(found) == 0 {
		return nil
	}
	where := fmt.Sprintf("server %s on %s", server.Name(), strings.Join(server.Listen, " "))
	if found[0].Source != "" {
		where = found[0].Source
	}
	return fmt.Errorf("api_limit (%s): the policy %s counts whom oauth_guard identifies, and would count nobody: oauth_guard stands behind it; put oauth_guard in front of api_limit", where, found[0].Policy)
}
