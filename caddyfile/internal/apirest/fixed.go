package apirest

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// readFixed reads parameters that the gateway sends itself.
//
//	send fixed [<operations...>] [query|body|header] <name>=<value>...
func readFixed(to *[]resource.Fixed) parse.Word {
	const form = "fixed, perhaps kinds of operations and query, body or header, and parameters such as `send fixed token={env.API_TOKEN}`"
	return func(d *caddyfile.Dispenser) error {
		line := d.Token()
		if err := refuseQuotedValues(d, "send fixed"); err != nil {
			return err
		}
		words := d.RemainingArgs()
		if len(words) < 2 || words[0] != "fixed" {
			return d.Errf("send: expected %s", form)
		}
		var f resource.Fixed
		words = words[1:]
		for ; len(words) > 0 && !strings.Contains(words[0], "="); words = words[1:] {
			switch in := placeOf(words[0]); {
			case in != "" && f.In != "":
				return d.Errf("send fixed: unexpected '%s' behind %s, expected parameters such as token={env.API_TOKEN}", words[0], f.In)
			case in != "":
				f.In = in
			case !slices.Contains(resource.Kinds, resource.Kind(words[0])):
				return d.Errf("send fixed: unexpected '%s', expected %s", words[0], form)
			default:
				f.Operations = append(f.Operations, resource.Kind(words[0]))
			}
		}
		if len(words) == 0 {
			return d.Errf("send fixed: expected parameters such as token={env.API_TOKEN}")
		}
		for _, w := range words {
			name, value, ok := strings.Cut(w, "=")
			if !ok {
				return d.Errf("send fixed: unexpected '%s' behind a parameter, expected parameters such as token={env.API_TOKEN}, or with a space in the value \"Authorization=Basic {env.ACCOUNT}\"", w)
			}
			one := f
			one.Name, one.Value = name, value
			*to = append(*to, one)
		}
		if err := resource.CheckFixed(*to); err != nil {
			return parse.ErrorAt(line, err)
		}
		return nil
	}
}

// refuseQuotedValues refuses parameters in the rest of the line of which only the value is in
// quotes, as in name="a b". A shell takes them so, but the Caddyfile keeps the quotes and ends
// the value at its first space.
func refuseQuotedValues(d *caddyfile.Dispenser, word string) error {
	ahead := *d
	for _, t := range ahead.RemainingArgsAsTokens() {
		name, value, ok := strings.Cut(t.Text, "=")
		if ok && !t.Quoted() && strings.HasPrefix(value, `"`) {
			return d.Errf(`%s: unexpected quotes around the value of %s, expected them around the whole parameter: "%s=<value>"`, word, name, name)
		}
	}
	return nil
}

// placeOf returns the place of a parameter that a word names, "" for another word. A form is a
// kind of body.
func placeOf(word string) supply.Place {
	switch in := supply.Place(word); in {
	case supply.Query, supply.Body, supply.Header:
		return in
	}
	if word == "form" {
		return supply.Body
	}
	return ""
}
