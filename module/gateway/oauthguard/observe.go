package oauthguard

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// observe tells those who watch what the guard decided.
func (g *Guard) observe(r *http.Request, d *guard.Decision) {
	feed := g.app.Decisions()
	if !feed.Watched() {
		return
	}
	seen := handler.GuardDecision{Refused: !d.Allowed && d.Status != http.StatusNoContent, Token: d.Access}
	if seen.Refused {
		seen.Reason, seen.Token = string(d.Reason), d.Refused
		if d.Refusal != "" {
			seen.Reason += ":" + string(d.Refusal)
		}
	}
	if seen.Refused && g.Shadow {
		seen.Refused, seen.Reason = false, "shadow:"+seen.Reason
	}
	if d.Rule >= 0 {
		seen.Route = g.routes[d.Rule]
	}
	handler.ObserveGuard(feed, r, seen)
}

// observe is [Guard.observe] for a provider, which does not see the answer. A request that another provider may
// accept is none that was refused.
func (p *Provider) observe(r *http.Request, d *guard.Decision) {
	if !d.Allowed && p.beside {
		return
	}
	o := handler.ObserveUnseen(p.guard.app.Decisions(), r)
	p.guard.observe(r, d)
	if o == nil {
		return
	}
	o.EndUnseen(d.Status)
}
