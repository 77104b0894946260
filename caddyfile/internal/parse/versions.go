package parse

import (
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

var versionName = regexp.MustCompile(`^v[1-9][0-9]*$`)

// IsVersionName reports whether name is that of a version of an API, such as v1.
func IsVersionName(name string) bool { return versionName.MatchString(name) }

// Versions returns the word for the versions of the API that the rules of a directive hold in.
func Versions(to *[]string) Word {
	return List(to, "the names of versions such as v1 v2", func(d *caddyfile.Dispenser, word, name string) error {
		if !IsVersionName(name) {
			return d.Errf("%s: invalid name '%s', expected v and a number such as v1", word, name)
		}
		return nil
	})
}

// WithVersions returns the paths of a rule and, right after them so that the order of rules
// stays, the same paths below each version. Paths that name a version and /*, which holds in
// all of them, are not repeated.
func WithVersions(paths, versions []string) []string {
	all := slices.Clone(paths)
	for _, name := range versions {
		for _, path := range paths {
			first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
			if path == "/*" || IsVersionName(first) || slices.Contains(paths, "/"+name+path) {
				continue
			}
			all = append(all, "/"+name+path)
		}
	}
	return all
}
