package caddyfile

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// checkConditions finds a fail_when of `errors` that cannot be asked of all resources.
func (r *rest) checkConditions() error {
	sets := [][]resource.Resource{r.Resources}
	for i := range r.Versions {
		sets = append(sets, r.Versions[i].Resources)
	}
	for i, line := range r.conditions {
		for _, set := range sets {
			if err := resource.CheckShared(r.Errors.FailWhen[i], set); err != nil {
				return at(line, err)
			}
		}
	}
	return nil
}

// fromXML reads what answers in XML look like.
func fromXML(d *caddyfile.Dispenser, r *resource.Resource) error {
	const form = "xml, the outermost element, and perhaps list and the elements that are always lists, such as `from xml articles list article`"
	if err := once(d, r.FromXML != nil); err != nil {
		return err
	}
	words, err := args(d, form)
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
