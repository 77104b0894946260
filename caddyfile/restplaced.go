package caddyfile

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/rest/compose"
)

// placed takes the members that the gateway places in the body off the words of an upstream. line
// stands in front of the words.
//
//	... as form|json|multipart [<name>=<value>...] [override]
func placed(d *caddyfile.Dispenser, line caddyfile.Dispenser, words []string) (rest []string, members []compose.Member, err error) {
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
	if err := quotesAround(&line, "upstream"); err != nil {
		return nil, nil, err
	}
	for _, word := range words[first:end] {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, nil, d.Errf("upstream: unexpected '%s' behind `as %s`, expected members such as id={id} and then perhaps override", word, words[at+1])
		}
		// {query.start} has been written out as Caddy's own placeholder.
		members = append(members, compose.Member{Name: name, Value: strings.ReplaceAll(value, "{http.request.uri.query.", "{query.")})
	}
	return slices.Concat(words[:first], words[end:]), members, nil
}
