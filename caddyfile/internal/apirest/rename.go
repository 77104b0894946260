package apirest

import (
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// readRename reads the API's names of members. A name is used in answers and bodies, a pointer
// in answers; a member may have both.
func readRename(d *caddyfile.Dispenser, r *resource.Resource) error {
	found, err := readPairs(d, "our name and the upstream's, such as title=subject, or a pointer into its answers, such as title=/title/rendered", false)
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
