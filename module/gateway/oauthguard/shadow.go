package oauthguard

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
)

// passShadow hands every request on, and says what a guard that is not in shadow mode would
// have refused. The API behind may still have credentials of its own: those the guard
// does not accept are left in the request, and its path is not touched. Of the answer only
// what the gateway alone may say is removed: the issuer's sessions are at stake there, not
// the API.
func (g *Guard) passShadow(w http.ResponseWriter, r *http.Request, d *guard.Decision, next caddyhttp.Handler) (err error) {
	if d.Err != nil {
		g.log.Error("a token could not be judged", "error", d.Err)
	}
	g.reportRefusal(r, d)
	if d.Redact {
		entry := g.access.Start(w, r)
		defer func() { entry.End(err) }()
		w = entry.Writer
	}
	answer := g.answers.From(w, nil)
	defer answer.Finish()
	if d.Allowed {
		g.counts[d.Reason].Inc()
		g.prepareRequest(r, d)
		return next.ServeHTTP(answer, r)
	}
	if d.Status != http.StatusNoContent { // a preflight would have been answered
		g.shadowed[d.Reason].Inc()
		g.log.Info("would have been refused", "reason", string(d.Reason), "status", d.Status, "method", r.Method, "path", r.URL.Path)
	}
	sent := r.Header["Authorization"]
	g.identity.Strip(r)
	if sent != nil {
		r.Header["Authorization"] = sent
	}
	return next.ServeHTTP(answer, r)
}
