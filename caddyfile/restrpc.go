package caddyfile

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// call takes the call of a method off the end of the words of an upstream, nil for none.
//
//	upstream <METHOD> <path> [POST] <template> rpc <method> [<parameters>]
func call(d *caddyfile.Dispenser, words []string) ([]string, *resource.RPC, error) {
	const form = "a method and its parameters, such as `upstream GET /articles/{id} /rpc rpc article.get [{id}]`"
	at := slices.Index(words, "rpc")
	if at < 0 {
		return words, nil, nil
	}
	called := words[at+1:]
	if len(called) == 0 {
		return nil, nil, d.Errf("upstream: rpc: expected %s", form)
	}
	// {query.start} has been written out as Caddy's own placeholder.
	params := strings.ReplaceAll(strings.Join(called[1:], " "), "{http.request.uri.query.", "{query.")
	return words[:at], &resource.RPC{Method: called[0], Params: params}, nil
}
