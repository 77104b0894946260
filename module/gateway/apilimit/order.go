package apilimit

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// warnWithoutGuard warns if the limit's first request has not passed a guard that a policy needs.
func (l *Limit) warnWithoutGuard(r *http.Request) {
	i := slices.IndexFunc(l.Policies, Policy.NeedsGuard)
	if i < 0 || handler.PassedGuard(r) {
		return
	}
	l.log.Warn("api_limit: a policy counts whom oauth_guard identifies, and the first request came without passing an oauth_guard: where none stands in front, the policy limits nobody",
		"policy", l.Policies[i].Name)
}
