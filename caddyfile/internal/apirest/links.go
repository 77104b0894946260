package apirest

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// readLinks reads the relations of a resource.
func readLinks(d *caddyfile.Dispenser, r *resource.Resource) error {
	words, err := parse.LiteralArguments(d, "relations: self, delete, or a name with a method and a path such as friends=GET:/students/{id}/friends")
	if err != nil {
		return err
	}
	for _, w := range words {
		name, to, leads := strings.Cut(w, "=")
		l := link.Link{Rel: name}
		if leads {
			method, path, ok := strings.Cut(to, ":")
			if !ok || name == "" || !slices.Contains(writtenMethods, method) || !strings.HasPrefix(path, "/") {
				return d.Errf("links: unexpected '%s', expected a method and a path, such as friends=GET:/students/{id}/friends", w)
			}
			l.Method, l.Path = method, path
		} else if name != "self" && name != "delete" {
			return d.Errf("links: unexpected '%s', expected self, delete, or a name with a method and a path such as friends=GET:/students/{id}/friends", w)
		}
		r.Links = append(r.Links, l)
	}
	return nil
}

// writtenMethods are the methods that a line may name.
var writtenMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
