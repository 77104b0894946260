package gateway

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// discreetly passes on a request that comes from a page with an access token in its
// address. Neither the API nor a log gets the Referer: its line is written here, and so is
// an error that Caddy's error log would show with the header fields.
func (g *Guard) discreetly(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	loggers, sent := g.access.take(r), r.Header.Clone()
	r.Header.Del("Referer")
	rec := caddyhttp.NewResponseRecorder(w, nil, nil)
	err := next.ServeHTTP(rec, r)
	o := outcome{status: rec.Status(), size: rec.Size(), header: rec.Header()}
	if err != nil {
		o.status = handler.StatusOf(err)
	}
	write(loggers, r, sent, o)
	if err != nil && !handler.Shaped(r) {
		g.log.Error("the request could not be answered", "status", o.status)
		w.WriteHeader(o.status)
		return nil
	}
	return err
}
