package oauthguard

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// passLeakedToken passes a request from a page with an access token in its address. Neither the
// API nor a log gets the Referer: the line of the access log is written here, and so is an error
// that Caddy's error log would show with the header fields.
func (g *Guard) passLeakedToken(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	entry := g.access.Start(w, r)
	r.Header.Del("Referer")
	err := next.ServeHTTP(entry.Writer, r)
	entry.End(err)
	if err != nil && !handler.Shaped(r) {
		g.log.Error("the request could not be answered", "status", handler.StatusOf(err))
		w.WriteHeader(handler.StatusOf(err))
		return nil
	}
	return err
}
