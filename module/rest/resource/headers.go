package resource

import (
	"fmt"
	"net/http"
	"slices"
)

// WithFields returns the resource, and those nested in it, with header fields that all resources let
// through.
func (r Resource) WithFields(down, up []string) Resource {
	r.HeaderDown, r.HeaderUp = mergeFields(down, r.HeaderDown), mergeFields(up, r.HeaderUp)
	if len(r.Nested) > 0 {
		nested := make([]Resource, len(r.Nested))
		for i, below := range r.Nested {
			nested[i] = below.WithFields(down, up)
		}
		r.Nested = nested
	}
	return r
}

func mergeFields(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.ContainsFunc(a, func(other string) bool { return http.CanonicalHeaderKey(other) == http.CanonicalHeaderKey(name) }) {
			all = append(all, name)
		}
	}
	return all
}

// Cookies checks header_up, and reports whether it lets Cookie through, the only field of clients that
// must be named to pass.
func Cookies(up []string) (bool, error) {
	for i, name := range up {
		switch {
		case http.CanonicalHeaderKey(name) != "Cookie":
			return false, fmt.Errorf("header_up: unexpected '%s', expected Cookie: other fields of the client's pass anyway", name)
		case i > 0:
			return false, fmt.Errorf("header_up: Cookie is given twice")
		}
	}
	return len(up) > 0, nil
}
