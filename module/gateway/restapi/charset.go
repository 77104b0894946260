package restapi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// errorCharset returns the charset of errors, where answers are in the named one.
func (d *Dialect) errorCharset(name string) (*charset.Charset, error) {
	if d != nil && d.Charset != "" {
		name = d.Charset
	}
	if name == "" {
		return nil, nil
	}
	c, err := charset.Find(name)
	if err != nil {
		return nil, fmt.Errorf("charset: %w", err)
	}
	return c, nil
}

// inCharset returns resources with the charset of their API, where they have no other. Nested ones
// have that of the resource around them.
func inCharset(all []resource.Resource, name string) []resource.Resource {
	if name == "" {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		all[i].Charset = cmp.Or(all[i].Charset, name)
	}
	return all
}
