package oauthguard

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
)

// stripPreflight removes from a preflight what the upstream must not see, including from Caddy's
// copy of the original request, which FastCGI sends as REQUEST_URI and placeholders show.
func stripPreflight(r *http.Request) {
	guard.StripPreflight(r)
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok || original.URL == nil {
		return
	}
	original.URL.RawQuery, original.URL.ForceQuery = "", false
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Set("http.request.orig_uri", original.URL.RequestURI())
	}
}
