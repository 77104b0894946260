package apirest

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// readRoute reads what is sent upstream for a request.
func readRoute(d *caddyfile.Dispenser, r *resource.Resource) error {
	const form = "a method, a path, the upstream's method if it is another, and its path and query, such as `upstream GET /articles/{id} /api.php?aid={id}`"
	line := *d
	words, err := parse.LiteralArguments(form)(d)
	if err != nil {
		return err
	}
	var to resource.Route
	if words, to.RPC, err = cutRPC(d, words); err != nil {
		return err
	}
	if words, to.Members, err = cutMembers(d, line, words); err != nil {
		return err
	}
	if n := len(words); words[n-1] == "override" {
		to.Override, words = true, words[:n-1]
	}
	if n := len(words); n > 2 && words[n-3] == "as" && words[n-2] == "xml" {
		to.As, to.XMLRoot, words = "xml", words[n-1], words[:n-3]
	}
	if n := len(words); n > 1 && words[n-2] == "as" {
		to.As, words = words[n-1], words[:n-2]
	}
	if len(words) == 4 {
		to.UpstreamMethod = words[2]
		words = slices.Delete(words, 2, 3)
	}
	if len(words) != 3 {
		return d.Errf("upstream: expected %s", form)
	}
	to.Method, to.Path, to.Upstream = words[0], words[1], words[2]
	if slices.ContainsFunc(r.Routes, func(other resource.Route) bool { return other.Method == to.Method && other.Path == to.Path }) {
		return d.Errf("upstream %s %s is given twice", to.Method, to.Path)
	}
	r.Routes = append(r.Routes, to)
	return nil
}

// cutMembers takes the members that the gateway places in the body off the words of an
// upstream. line stands in front of the words.
//
//	... as form|json|multipart [<name>=<value>...] [override]
func cutMembers(d *caddyfile.Dispenser, line caddyfile.Dispenser, words []string) (rest []string, members []compose.Member, err error) {
	at := slices.Index(words, "as")
	if at < 0 || at+2 >= len(words) {
		return words, nil, nil
	}
	first := at + 2
	if words[at+1] == "xml" {
		first++
	}
	end := len(words)
	if words[end-1] == "override" {
		end--
	}
	if first >= end {
		return words, nil, nil
	}
	if err := refuseQuotedValues(&line, "upstream"); err != nil {
		return nil, nil, err
	}
	for _, word := range words[first:end] {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, nil, d.Errf("upstream: unexpected '%s' behind `as %s`, expected members such as id={id} and then perhaps override", word, words[at+1])
		}
		// Caddy has written {query.start} out as a placeholder of its own.
		members = append(members, compose.Member{Name: name, Value: strings.ReplaceAll(value, "{http.request.uri.query.", "{query.")})
	}
	return slices.Concat(words[:first], words[end:]), members, nil
}

// cutRPC takes the call of a method off the end of the words of an upstream; nil for none.
//
//	upstream <METHOD> <path> [POST] <template> rpc|xmlrpc <method> [<parameters>]
func cutRPC(d *caddyfile.Dispenser, words []string) ([]string, *resource.RPC, error) {
	const form = "a method and its parameters, such as `upstream GET /articles/{id} /rpc rpc article.get [{id}]`"
	at := slices.IndexFunc(words, func(w string) bool { return w == "rpc" || w == "xmlrpc" })
	if at < 0 {
		return words, nil, nil
	}
	called := words[at+1:]
	if len(called) == 0 {
		return nil, nil, d.Errf("upstream: %s: expected %s", words[at], form)
	}
	// Caddy has written {query.start} out as a placeholder of its own.
	params := strings.ReplaceAll(strings.Join(called[1:], " "), "{http.request.uri.query.", "{query.")
	to := &resource.RPC{Method: called[0], Params: params}
	if words[at] == "xmlrpc" {
		to.Protocol = "xml"
	}
	return words[:at], to, nil
}
