package caddyfile

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// versions reads the versions of the API that rules hold in.
func versions(d *caddyfile.Dispenser, into *[]string) error {
	if err := once(d, *into != nil); err != nil {
		return err
	}
	names, err := some(d, "the names of versions such as v1 v2")
	if err != nil {
		return err
	}
	for i, name := range names {
		switch {
		case !versionName.MatchString(name):
			return d.Errf("versions: invalid name '%s', expected v and a number such as v1", name)
		case slices.Contains(names[:i], name):
			return d.Errf("versions: %s is given twice", name)
		}
	}
	*into = names
	return nil
}

// versioned are the paths of a rule, and the same behind each version, right after them, so
// that the order of rules stays. Paths that name a version, and those that are about
// everything, stay alone.
func versioned(paths, names []string) []string {
	all := slices.Clone(paths)
	for _, name := range names {
		for _, path := range paths {
			first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
			if path == "/*" || versionName.MatchString(first) || slices.Contains(paths, "/"+name+path) {
				continue
			}
			all = append(all, "/"+name+path)
		}
	}
	return all
}
