package exchange

import (
	"context"
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Record sends a request and records the answer, of its body at most limit bytes: a translated
// resource, or an error in the form of the API. newRequest makes the API's request out of up. It
// may run in a goroutine of its own.
func (x *Exchanger) Record(up mapping.Upstream, e Exchange, limit int, newRequest func(http.ResponseWriter, mapping.Upstream) *http.Request) responsewriter.Reply {
	up.Replaced = true
	up.Set["Upgrade"] = nil // there is nobody to talk to
	rec := responsewriter.NewRecorder(limit)
	r := newRequest(rec, up)
	if !e.Answer.Writes() {
		var ctx context.Context
		ctx, rec.Surplus = responsewriter.NewSurplus(r.Context())
		r, e.Surplus = r.WithContext(ctx), rec.Surplus
	}
	err := x.SendAlone(rec, r, e)
	if err == nil && rec.Status() >= 300 && rec.Status() < 400 {
		err = errRedirected
	}
	if err != nil {
		rec = responsewriter.NewRecorder(limit)
		envelope.Write(rec, r, x.StatusOf(err), x.Told(err))
	}
	return rec.Reply()
}

// errRedirected is for a redirect, for example to a page to sign in at, and for a 304 to a
// condition that nobody made: a request that no client waits for cannot be led elsewhere.
var errRedirected = envelope.Fail(http.StatusBadGateway, "upstream_error", "the service behind the gateway gave an answer that could not be read", errors.New("a redirect, or 304, where nobody can follow"))
