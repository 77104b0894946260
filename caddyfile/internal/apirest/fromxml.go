package apirest

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// readFromXML reads what answers in XML look like.
func readFromXML(d *caddyfile.Dispenser, r *resource.Resource) error {
	const form = "xml, the outermost element, and perhaps list and the elements that are always lists, such as `from xml articles list article`"
	if err := parse.Once(d, r.FromXML != nil); err != nil {
		return err
	}
	words, err := parse.LiteralArguments(d, form)
	if err != nil {
		return err
	}
	if len(words) < 2 || words[0] != "xml" || len(words) == 3 || len(words) > 2 && words[2] != "list" {
		return d.Errf("from: expected %s", form)
	}
	r.FromXML = &resource.FromXML{Root: words[1]}
	if len(words) > 2 {
		r.FromXML.Lists = words[3:]
	}
	return nil
}
