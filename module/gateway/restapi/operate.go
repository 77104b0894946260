package restapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/cursorpages"
	"github.com/gatehouse/gatehouse/module/internal/rest/exchange"
	"github.com/gatehouse/gatehouse/module/internal/rest/headerfilter"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/upstream"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// operate sends the request of a call to the API and translates the answer.
func (h *REST) operate(w http.ResponseWriter, c *call) error {
	m := c.Match
	up, refused := c.Upstream(m, c.Asked)
	if refused != nil {
		return refused
	}
	if m.Operation.Follows() {
		f := cursorpages.Follower{MaxAnswers: h.follows, Unreadable: h.exchanger.Unreadable}
		return f.Serve(w, &c.Call, up, h.asker(c, m))
	}
	query, _ := url.ParseQuery(c.Asked.RawQuery) // Request has read it
	answer := m.Answer(up, answer.Caller{Prefix: c.Prefix, Query: query, Allowed: c.Permits})
	out := headerfilter.New(w, &c.Call, answer)
	defer out.Finish()
	to, dialect := c.routeOf(m.Operation)
	out.Secret = upstream.Secret(to)
	return h.send(out, c, to, upstreamRequest(c.Request.Context(), w, c.Request, up), answer, dialect)
}

// send sends r, the API's request, and answers the client.
func (h *REST) send(w http.ResponseWriter, c *call, to route, r *http.Request, answer *answer.Answer, dialect *envelope.Config) error {
	return h.exchanger.Send(w, r, c.Request, exchange.Exchange{
		To: to, Answer: answer, Dialect: dialect, MediaType: c.MediaType, Locate: upstream.WithoutSecrets(to, h.locator(c, r)),
	})
}

// asker returns how the API is asked to carry out a match for a client.
func (h *REST) asker(c *call, m routes.Match) operation.Ask {
	to, dialect := c.routeOf(m.Operation)
	return func(ctx context.Context, up mapping.Upstream, answer *answer.Answer, limit int) responsewriter.Reply {
		newRequest := func(w http.ResponseWriter, up mapping.Upstream) *http.Request {
			return upstreamRequest(ctx, w, c.Request, up)
		}
		return h.exchanger.Record(up, exchange.Exchange{To: to, Answer: answer, Dialect: dialect}, limit, newRequest)
	}
}

// routeOf returns the route of an operation to the API, which adds what the gateway sends itself, and how errors are read.
func (c *call) routeOf(o *routes.Operation) (operation.Route, *envelope.Config) {
	return c.api.Route(o, nil, withSentQuery(c.sender()), c.dialects[o])
}

// sender returns the route to the API of a call.
func (c *call) sender() route {
	to := c.route
	if to == nil {
		to = c.next
	}
	if c.OnRequest == nil && c.OnAnswer == nil {
		return to
	}
	return caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		if c.OnRequest != nil {
			c.OnRequest(r)
		}
		if c.OnAnswer != nil {
			w = responsewriter.OnHeader(w, c.OnAnswer)
		}
		return to.ServeHTTP(w, r)
	})
}
