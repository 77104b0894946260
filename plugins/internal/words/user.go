package words

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// User reads a block that says where each field of a user is, one of known, and each
// further claim:
//
//	<word> {
//		<field>      <place>
//		claim <name> <place>
//	}
//
// place is what errors call the place, such as "attribute".
func User(fields, claims *map[string]string, known []string, place string) Reader {
	return func(d *caddyfile.Dispenser, word string) error {
		if d.NextArg() {
			return d.ArgErr()
		}
		*fields, *claims = make(map[string]string), make(map[string]string)
		for nesting := d.Nesting(); d.NextBlock(nesting); {
			field, into := d.Val(), *fields
			if field == "claim" {
				if !d.NextArg() {
					return d.Errf("expected `claim <name> <%s>`", place)
				}
				field, into = d.Val(), *claims
			} else if !slices.Contains(known, field) {
				return d.Errf("%s: unknown field '%s', expected one of %s, or claim", word, field, strings.Join(known, ", "))
			}
			var value string
			if !d.AllArgs(&value) || value == "" {
				return d.Errf("%s: %s: expected one %s", word, field, place)
			}
			if into[field] != "" {
				return d.Errf("%s: %s is given twice", word, field)
			}
			into[field] = value
		}
		return nil
	}
}
