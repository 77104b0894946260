package resource

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/headers"
)

// WithFields is the resource, and those nested in it, with header fields that are named for all.
func (r Resource) WithFields(down, up []string) Resource {
	r.HeaderDown, r.HeaderUp = union(down, r.HeaderDown), union(up, r.HeaderUp)
	if len(r.Nested) > 0 {
		nested := make([]Resource, len(r.Nested))
		for i, below := range r.Nested {
			nested[i] = below.WithFields(down, up)
		}
		r.Nested = nested
	}
	return r
}

func union(a, b []string) []string {
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

// compileFields reads which header fields pass, in both directions.
func (s *shape) compileFields() (err error) {
	if s.down, err = headers.New(s.config.HeaderDown); err != nil {
		return err
	}
	s.cookies, err = Cookies(s.config.HeaderUp)
	return err
}

// Cookies reads header_up: the client's Cookie is the only field that must be named to pass.
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

// Fields are the header fields of answers that reach the client.
func (o *Operation) Fields() *headers.Set { return o.shape.down }

// IsPage reports whether a success of this media type is no result of the API: a page or a
// download that passes as it is.
func (a *Answer) IsPage(media string, json, attachment bool) bool {
	if a.Declared() {
		return a.Passes(media)
	}
	return !json || attachment
}

// TakesCookies reports whether the client's cookies reach the upstream.
func (o *Operation) TakesCookies() bool { return o.shape.cookies }
