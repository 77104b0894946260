package oauthguard

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
)

// passShadow passes every request, and reports what a guard outside of shadow mode would have
// refused. The API behind may still have its own credentials: those that the guard does not
// accept stay in the request, and its path is not changed. Only header fields that are the
// gateway's own are removed from the response, to protect the issuer's sessions, and a response that
// caches may store varies by token as behind any guard.
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
	answer := g.answers.From(w, setFields(guard.CORS{}, dependsOnToken(d)))
	defer func() {
		answer.Finish()
		if err != nil && dependsOnToken(d) {
			keepFromCaches(w, r)
		}
	}()
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

// dependsOnToken reports whether the API's answer does, even to a request without one: another request for the same
// address tells the API who calls. That is so unless the rule is public.
func dependsOnToken(d *guard.Decision) bool { return d.Reason != guard.Public }
