package apirest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/gatehouse/gatehouse/caddyfile/internal/apierrors"
	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway/apiproxy"
)

// readUpstream reads where an upstream is: addresses, or a block of
// directives. The charset of its texts may stand behind the addresses or in the block.
func (b *block) readUpstream(to *caddyhttp.RouteList, charset *string) parse.Word {
	return parse.Once(to, func(*caddyfile.Dispenser) (caddyhttp.RouteList, error) { return parseUpstream(b.Helper, charset) })
}

func parseUpstream(h httpcaddyfile.Helper, charset *string) (caddyhttp.RouteList, error) {
	const form = "addresses such as 10.0.1.20:8080 or https://api.internal, or a block of directives"
	head := h.Token()
	segment, err := cutCharset(h.NextSegment(), charset)
	if err != nil {
		return nil, err
	}
	block := slices.IndexFunc(segment, func(t caddyfile.Token) bool { return t.Text == "{" && !t.Quoted() })
	switch {
	case len(segment) == 1 || block == 1 && len(segment) == 3:
		return nil, parse.ErrorAt(head, errors.New("to: expected "+form))
	case block > 1:
		return nil, parse.ErrorAt(head, errors.New("to: unexpected block behind an address, expected "+form+" such as { reverse_proxy "+segment[1].Text+" { ... } }"))
	case block < 0:
		return proxyTo(segment)
	}
	handler, err := httpcaddyfile.ParseSegmentAsSubroute(h.WithDispenser(caddyfile.NewDispenser(segment)))
	if err != nil {
		return nil, err
	}
	sub, ok := handler.(*caddyhttp.Subroute)
	if !ok || len(sub.Routes) == 0 {
		return nil, parse.ErrorAt(head, errors.New("to: expected a directive that answers, such as reverse_proxy 10.0.1.20:8080"))
	}
	return sub.Routes, nil
}

// cutCharset takes `charset` and its name out of the words of `to`.
func cutCharset(segment caddyfile.Segment, name *string) (rest caddyfile.Segment, err error) {
	depth := 0
	for i := 0; i < len(segment); i++ {
		t := segment[i]
		line := i > 0 && (t.File != segment[i-1].File || t.Line > segment[i-1].Line)
		begins := depth == 1 && line || depth == 0 && i > 1
		switch {
		case t.Quoted():
		case t.Text == "{":
			depth++
		case t.Text == "}":
			depth--
		case t.Text == "charset" && begins:
			words := caddyfile.NewDispenser(segment[i:])
			words.Next()
			if err := parse.Once(name, apierrors.ReadCharset)(words); err != nil {
				return nil, err
			}
			i++
			continue
		}
		rest = append(rest, t)
	}
	return rest, nil
}

// proxyTo makes a route to addresses: to api_proxy, if it knows them all, and to reverse_proxy where
// one is something else, such as a placeholder, a range of ports or a server that speaks HTTP/2 alone.
func proxyTo(segment caddyfile.Segment) (caddyhttp.RouteList, error) {
	for _, t := range segment[1:] {
		// Caddy would take the text in front of the slash for a network such as unix.
		if network, _, found := strings.Cut(t.Text, "/"); found && !strings.Contains(t.Text, "://") && strings.ContainsAny(network, ".:]") && !strings.ContainsAny(network, "{+") {
			return nil, parse.ErrorAt(t, fmt.Errorf("to: unexpected path in '%s', expected addresses such as 10.0.1.20:8080 alone; the API's paths stand in `upstream`", t.Text))
		}
	}
	proxy := new(reverseproxy.Handler)
	if err := proxy.UnmarshalCaddyfile(caddyfile.NewDispenser(segment)); err != nil {
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			err = inner // without the positions that the errors around it add
		}
		return nil, parse.ErrorAt(segment[0], errors.New("to: "+err.Error()+", expected addresses such as 10.0.1.20:8080 or https://api.internal"))
	}
	own := new(apiproxy.Proxy)
	for _, t := range segment[1:] {
		own.Upstreams = append(own.Upstreams, t.Text)
	}
	if own.CheckUpstreams() == nil {
		return routeTo(own, "gatehouse_proxy"), nil
	}
	return routeTo(proxy, "reverse_proxy"), nil
}

// routeTo makes a route to a handler.
func routeTo(handler any, name string) caddyhttp.RouteList {
	return caddyhttp.RouteList{{HandlersRaw: []json.RawMessage{caddyconfig.JSONModuleObject(handler, "handler", name, nil)}}}
}
