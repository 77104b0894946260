package caddyfile

import (
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// rename reads what members are called in the API. A name holds for answers and bodies, a
// pointer for answers; a member may have both.
func rename(d *caddyfile.Dispenser, r *resource.Resource) error {
	found, err := pairs(d, "our name and the upstream's, such as title=subject, or a pointer into its answers, such as title=/title/rendered", false)
	if err != nil {
		return err
	}
	for _, p := range found {
		to := &r.Rename
		if strings.HasPrefix(p[1], "/") {
			to = &r.Lift
		}
		if _, ok := (*to)[p[0]]; ok {
			return d.Errf("rename: %s is given twice", p[0])
		}
		if *to == nil {
			*to = make(map[string]string)
		}
		(*to)[p[0]] = p[1]
	}
	return nil
}
