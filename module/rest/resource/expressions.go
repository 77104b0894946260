package resource

import (
	"fmt"
	"maps"
	"strings"
)

// expressions are what the values of placeholders must be, by the placeholder's name. One
// that is given once holds for the whole resource and for those nested in it.
type expressions map[string]*expression

// of returns those above together with what the paths of a resource give.
func (above expressions) of(collection pattern, routes []Route) (expressions, error) {
	all := expressions{}
	maps.Copy(all, above)
	if err := all.add(collection); err != nil {
		return nil, err
	}
	for _, r := range routes {
		p, err := parsePattern(r.Path)
		if err == nil {
			err = all.add(p)
		}
		if err != nil {
			return nil, fmt.Errorf("upstream %s %s: %w", r.Method, r.Path, err)
		}
	}
	return all, nil
}

func (all expressions) add(p pattern) error {
	for _, s := range p.segments {
		if s.fits == nil {
			continue
		}
		if other := all[s.text]; other != nil && other.String() != s.fits.String() {
			return fmt.Errorf("the placeholder {%s} has two expressions, %s and %s, expected one for the resource and those in it",
				s.text, segment{fits: other}.expression(), s.expression())
		}
		all[s.text] = s.fits
	}
	return nil
}

// hold gives the placeholders of a path their expressions.
func (all expressions) hold(p pattern) {
	for i, s := range p.segments {
		if s.param {
			p.segments[i].fits = all[s.text]
		}
	}
}

// Expressions are what the values of the path's placeholders match, whole: regular
// expressions in RE2's syntax without anchors, in the order of the placeholders.
func (o *Operation) Expressions() []string {
	var all []string
	for _, s := range o.pattern.segments {
		if s.param {
			all = append(all, s.expression())
		}
	}
	return all
}

// PlainPath is a client's path without the expressions of its placeholders, with or without
// a slash in front. One that is not well formed stays as it is.
func PlainPath(path string) string {
	rooted := "/" + strings.TrimPrefix(path, "/")
	p, err := parsePattern(rooted)
	if err != nil {
		return path
	}
	return p.text[len(rooted)-len(path):]
}
