package apilimit

import (
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// orderWarning warns if a limit's first request has not passed a guard.
type orderWarning struct{ looked atomic.Bool }

// checkFirst checks the first request. It is called for every one.
func (o *orderWarning) checkFirst(l *Limit, r *http.Request) {
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
