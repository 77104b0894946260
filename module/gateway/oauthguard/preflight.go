package oauthguard

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
)

// stripPreflight removes from a preflight what the upstream must not see, also where Caddy
// remembers the request as it came: FastCGI sends that as REQUEST_URI, and configurations
// have placeholders for it.
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
