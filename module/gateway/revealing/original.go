package revealing

import (
	"context"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
)

// WithQuery returns a request with another query in Caddy's copy of the original request. FastCGI sends the address of that copy as
// REQUEST_URI, from which some programs read their query, such as those made with CodeIgniter.
func WithQuery(r *http.Request, query string) *http.Request {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok || original.URL == nil || original.URL.RawQuery == query {
		return r
	}
	at := *original.URL
	at.RawQuery = query
	original.URL = &at
	return r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, original))
}

// withConcealed returns a request whose original has the concealed query too.
func withConcealed(r *http.Request) *http.Request {
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		return WithQuery(r, conceal.WithQuery(r, original.URL.RawQuery))
	}
	return r
}
