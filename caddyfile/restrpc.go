package caddyfile

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// call takes the call of a method off the end of the words of an upstream, nil for none.
//
//	upstream <METHOD> <path> [POST] <template> rpc|xmlrpc <method> [<parameters>]
func call(d *caddyfile.Dispenser, words []string) ([]string, *resource.RPC, error) {
	const form = "a method and its parameters, such as `upstream GET /articles/{id} /rpc rpc article.get [{id}]`"
	at := slices.IndexFunc(words, func(w string) bool { return w == "rpc" || w == "xmlrpc" })
	if at < 0 {
		return words, nil, nil
	}
	called := words[at+1:]
	if len(called) == 0 {
		return nil, nil, d.Errf("upstream: %s: expected %s", words[at], form)
	}
	// {query.start} has been written out as Caddy's own placeholder.
	params := strings.ReplaceAll(strings.Join(called[1:], " "), "{http.request.uri.query.", "{query.")
	to := &resource.RPC{Method: called[0], Params: params}
	if words[at] == "xmlrpc" {
		to.Protocol = "xml"
	}
	return words[:at], to, nil
}
