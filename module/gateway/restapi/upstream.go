package restapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway/revealing"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// route leads to an upstream. It is nil where the next handler does.
type route = caddyhttp.Handler

var (
	errNoRoute  = errors.New("no route of `to` answers this request")
	errNoAnswer = errors.New("no handler behind api_rest answers this request: write `to` in it, or reverse_proxy behind it")
)

// requireAnswer returns an error when no handler behind next answers. Caddy's server would answer
// 200 with an empty body, and a write that nobody received would look done.
func requireAnswer(next caddyhttp.Handler) caddyhttp.Handler {
	return caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		answered := false
		err := next.ServeHTTP(responsewriter.OnHeader(w, func(http.Header) { answered = true }), r)
		if err == nil && !answered {
			return envelope.Fail(http.StatusBadGateway, "", "", errNoAnswer)
		}
		return err
	})
}

// noRoute ends a sub-route: without it Caddy would answer 200 with an empty body.
func noRoute(http.ResponseWriter, *http.Request) error {
	return envelope.Fail(http.StatusBadGateway, "", "", errNoRoute)
}

// upstreamRequest returns a request to the API. parent is the client's request that it is made for:
// its header, body, variables and placeholders are used too, unless up replaces them. parent is nil
// for a request of the gateway's own, and ctx alone bounds that.
//
// Several requests can run at a time for one client: the placeholders {http.request.*} are each
// request's own, all others the parent's. Variables set in the sub-route do not reach the handlers
// around it.
//
// The client's trailers are dropped: some upstreams take them for header fields, and nobody has
// checked that they are not fields that only the gateway may send.
func upstreamRequest(ctx context.Context, w http.ResponseWriter, parent *http.Request, up mapping.Upstream) *http.Request {
	r := &http.Request{Method: up.Method, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header), Body: http.NoBody}
	var server *caddyhttp.Server
	var vars map[string]any
	var outer *caddy.Replacer
	if parent != nil {
		r.Host, r.RemoteAddr, r.TLS, r.Header = parent.Host, parent.RemoteAddr, parent.TLS, parent.Header.Clone()
		request.EndHop(r.Header)
		r.Proto, r.ProtoMajor, r.ProtoMinor = parent.Proto, parent.ProtoMajor, parent.ProtoMinor
		server, _ = parent.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
		vars, _ = parent.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
		outer, _ = parent.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	}
	switch {
	case up.Replaced:
		r.Body, r.ContentLength = request.InMemory(up.Body), int64(len(up.Body))
		if len(up.Body) == 0 {
			r.Body = http.NoBody
		}
		delete(r.Header, "Content-Length")
		delete(r.Header, "Transfer-Encoding")
		delete(r.Header, "Expect")
	case parent != nil:
		r.Body, r.ContentLength, r.TransferEncoding = parent.Body, parent.ContentLength, parent.TransferEncoding
		if !request.IsInMemory(r.Body) {
			r.Body = httpx.Unclosed(parent)
		}
	}
	for name, values := range up.Set {
		delete(r.Header, name)
		if values != nil {
			r.Header[name] = values
		}
	}
	r.URL = urlOf(up.Path, up.RawQuery)
	r.RequestURI = r.URL.RequestURI()
	if server == nil { // one is large
		server = new(caddyhttp.Server)
	}
	repl := caddy.NewReplacer()
	r = caddyhttp.PrepareRequest(r.WithContext(ctx), repl, w, server)
	if own, ok := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any); ok {
		maps.Copy(own, vars)
		handler.CopyFacts(own)
	}
	if outer != nil {
		repl.Map(outer.Get)
	} else {
		handler.AddPlaceholders(r) // no client asks for a job's request
	}
	return r
}

// withSentQuery returns a route that gives requests made by upstreamRequest their query in the original request too, with
// the parameters that were added since.
func withSentQuery(to route) route {
	if to == nil {
		return nil
	}
	return caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		return to.ServeHTTP(w, revealing.WithQuery(r, r.URL.RawQuery))
	})
}

// urlOf returns the URL of an escaped path, in a form that the proxy sends unchanged.
func urlOf(path, query string) *url.URL {
	u := &url.URL{Path: path, RawQuery: query}
	if decoded, err := url.PathUnescape(path); err == nil {
		u.Path = decoded
		if u.EscapedPath() != path {
			u.RawPath = path
		}
	}
	return u
}

// proxiedTo returns the host and port that a reverse proxy chose for a request; "" when none did.
func proxiedTo(r *http.Request) string {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return ""
	}
	at, _ := repl.GetString("http.reverse_proxy.upstream.hostport")
	return at
}

// jobParams returns the fixed parameters that are sent with jobs, which belong to no resource.
func jobParams(fixed []resource.Fixed) (params []supply.Param) {
	for _, f := range fixed {
		if len(f.Operations) == 0 {
			params = append(params, f.Param())
		}
	}
	return params
}

// jobBodyParams returns the parameters that bodies of such jobs must not have.
func jobBodyParams(fixed []resource.Fixed, account *login.Config) []supply.Param {
	return slices.Concat(jobParams(fixed), account.Kept())
}

// replacePlaceholders fills in the placeholders of a text for a request, and calls seen for each.
func replacePlaceholders(r *http.Request, text string, seen func(name, value string) error) (string, error) {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		repl = caddy.NewReplacer()
	}
	return repl.ReplaceFunc(text, func(name string, value any) (any, error) {
		text := caddy.ToString(value)
		return text, seen(name, text)
	})
}
