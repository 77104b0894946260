package restapi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/headers"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// withDefaults returns resources with what the handler declares for all of them. Nested resources
// take the charset of the resource around them. account signs in to their upstream; it may be nil.
func (h *REST) withDefaults(resources []resource.Resource, account *login.Config, charsetName string) []resource.Resource {
	resources = slices.Clone(resources)
	for i := range resources {
		r := &resources[i]
		*r = r.With(resource.Shared{HeaderDown: h.HeaderDown, HeaderUp: h.HeaderUp, Fixed: h.Fixed, SignIn: account.Kept()})
		r.Charset = cmp.Or(r.Charset, charsetName)
	}
	return resources
}

// CheckHeaders reports errors in what is declared for all resources: header fields, fixed
// parameters and sign-ins.
func (h *REST) CheckHeaders() error {
	if _, err := headers.New(h.HeaderDown); err != nil {
		return err
	}
	if _, err := resource.Cookies(h.HeaderUp); err != nil {
		return err
	}
	if err := resource.CheckFixed(h.Fixed); err != nil {
		return err
	}
	return h.checkLogins()
}

// errorCharset returns the charset of errors, where the charset of other answers is given. It is
// nil where both are unknown.
func (d *Dialect) errorCharset(name string) (*charset.Charset, error) {
	if d != nil {
		name = cmp.Or(d.Charset, name)
	}
	return findCharset(name)
}

// findCharset returns nil for "", and for UTF-8.
func findCharset(name string) (*charset.Charset, error) {
	if name == "" {
		return nil, nil
	}
	c, err := charset.Find(name)
	if err != nil {
		return nil, fmt.Errorf("charset: %w", err)
	}
	return c, nil
}
