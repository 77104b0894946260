package restapi

import (
	"errors"
	"fmt"

	"github.com/gatehouse/gatehouse/module/rest/headers"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// inherited are resources with what is said for all of them.
func (h *REST) inherited(resources []resource.Resource) []resource.Resource {
	if len(h.HeaderDown)+len(h.HeaderUp)+len(h.Fixed) == 0 && h.Login == nil {
		return resources
	}
	all := make([]resource.Resource, len(resources))
	for i, r := range resources {
		all[i] = r.WithFields(h.HeaderDown, h.HeaderUp).WithSupplied(h.Fixed, h.Login.Kept())
	}
	return all
}

// CheckHeaders reports what is wrong with the header fields that are named for all resources.
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
	return h.checkLogin()
}

// checkLogin reports what is wrong with the gateway's sign-in, and with what would carry its
// session to clients, or theirs into it.
func (h *REST) checkLogin() error {
	switch {
	case h.Login == nil:
		return nil
	case len(h.Upstream) == 0 && !h.unresolved:
		return errors.New("login needs an upstream of its own: expected `to`")
	}
	if err := h.Login.Check(); err != nil {
		return err
	}
	sets := [][]resource.Resource{h.Resources}
	for i := range h.Versions {
		sets = append(sets, h.Versions[i].Resources)
	}
	for _, set := range sets {
		table, err := resource.NewTable(h.inherited(set))
		if err != nil {
			return err
		}
		for _, o := range table.Operations() {
			if o.Fields().Named("Set-Cookie") || o.TakesCookies() {
				return fmt.Errorf("resource %s: the session of login is in cookies that clients must neither see nor send: expected no header_up Cookie, and no header_down that lets Set-Cookie pass", o.Resource.Path)
			}
		}
	}
	return nil
}
