package restapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// route leads to an upstream. It is nil where the next handler does.
type route = caddyhttp.Handler

var (
	errNowhere  = errors.New("no route of `to` answers this request")
	errNoAnswer = errors.New("no handler behind api_rest answers this request: write `to` in it, or reverse_proxy behind it")
)

// answering makes an error of it when no handler behind next answers. Caddy's server would
// answer 200 with an empty body, and a write that nobody received would look done.
func answering(next caddyhttp.Handler) caddyhttp.Handler {
	return caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		answered := false
		err := next.ServeHTTP(responsewriter.OnHeader(w, func(http.Header) { answered = true }), r)
		if err == nil && !answered {
			return envelope.Fail(http.StatusBadGateway, "", "", errNoAnswer)
		}
		return err
	})
}

// nowhere ends a sub-route: without it Caddy would answer 200 with nothing.
func nowhere(http.ResponseWriter, *http.Request) error {
	return envelope.Fail(http.StatusBadGateway, "", "", errNowhere)
}

// request is an upstream's request. parent is the client's request it is made for: its
// header, body, variables and placeholders are there too, unless up replaces them. Or
// parent is nil and nobody asks: ctx alone says how long.
//
// The request is whole in itself, so that several can run at a time for one client: the
// placeholders {http.request.*} are its own, all others the parent's. Variables set in the
// sub-route do not reach the handlers around it.
//
// Trailers of the client's end here: some upstreams take them for header fields, which would be
// those that only the gateway may send, since nobody has looked at them.
func upstreamRequest(ctx context.Context, w http.ResponseWriter, parent *http.Request, up mapping.Upstream) *http.Request {
	r := &http.Request{Method: up.Method, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header), Body: http.NoBody}
	server := new(caddyhttp.Server)
	var vars map[string]any
	var outer *caddy.Replacer
	if parent != nil {
		r.Host, r.RemoteAddr, r.TLS, r.Header = parent.Host, parent.RemoteAddr, parent.TLS, parent.Header.Clone()
		request.EndHop(r.Header)
		r.Proto, r.ProtoMajor, r.ProtoMinor = parent.Proto, parent.ProtoMajor, parent.ProtoMinor
		if s, ok := parent.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
			server = s
		}
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
	r.URL = address(up.Path, up.RawQuery)
	r.RequestURI = r.URL.RequestURI()
	repl := caddy.NewReplacer()
	r = caddyhttp.PrepareRequest(r.WithContext(ctx), repl, w, server)
	if own, ok := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any); ok {
		for name, value := range vars {
			own[name] = value
		}
		handler.Unshaped(own)
	}
	if outer != nil {
		repl.Map(outer.Get)
	} else {
		handler.ShowIdentity(r) // a job runs for nobody
	}
	return r
}

// address writes exactly the escaped path, in a way that survives the proxy.
func address(path, query string) *url.URL {
	u := &url.URL{Path: path, RawQuery: query}
	if decoded, err := url.PathUnescape(path); err == nil {
		u.Path = decoded
		if u.EscapedPath() != path {
			u.RawPath = path
		}
	}
	return u
}

// proxied is the address of the upstream that a reverse proxy chose for a request, with
// its port; "" when none did.
func proxied(r *http.Request) string {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return ""
	}
	at, _ := repl.GetString("http.reverse_proxy.upstream.hostport")
	return at
}
