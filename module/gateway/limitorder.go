package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// NeedsGuard reports whether the policy counts by something that only a guard in front can
// tell. Without one it applies to no request.
func (p Policy) NeedsGuard() bool { return routes.Policy{Name: p.Name, By: p.By}.NeedsGuard() }

// checkOrder refuses a limit by caller whose guard comes behind it in the same list of
// routes: it would limit nobody, silently. It looks at the whole server, since a handler
// that is provisioned does not know where it is.
func (l *layout) checkOrder(ctx caddy.Context) error {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return nil
	}
	found := l.follow(server).Misplaced
	if len(found) == 0 {
		return nil
	}
	where := fmt.Sprintf("server %s on %s", server.Name(), strings.Join(server.Listen, " "))
	if found[0].Source != "" {
		where = found[0].Source
	}
	return fmt.Errorf("api_limit (%s): the policy %s counts whom oauth_guard identifies, and would count nobody: oauth_guard stands behind it; put oauth_guard in front of api_limit", where, found[0].Policy)
}

// orderWarning says once that a limit's first request came without having passed a guard.
type orderWarning struct{ looked atomic.Bool }

// look is called for every request.
func (o *orderWarning) look(l *Limit, r *http.Request) {
	if o.looked.Load() || !o.looked.CompareAndSwap(false, true) {
		return
	}
	i := slices.IndexFunc(l.Policies, Policy.NeedsGuard)
	if i < 0 || handler.PassedGuard(r) {
		return
	}
	l.log.Warn("api_limit: a policy counts whom oauth_guard identifies, and the first request came without passing an oauth_guard: where none stands in front, the policy limits nobody",
		"policy", l.Policies[i].Name)
}
