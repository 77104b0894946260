package restapi

import (
	"github.com/gatehouse/gatehouse/module/internal/rest/headers"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// inherited are resources with what is said for all of them. account is how the gateway signs in
// to their upstream, nil where it does not.
func (h *REST) inherited(resources []resource.Resource, account *login.Config) []resource.Resource {
	if len(h.HeaderDown)+len(h.HeaderUp)+len(h.Fixed) == 0 && account == nil {
		return resources
	}
	all := make([]resource.Resource, len(resources))
	for i, r := range resources {
		all[i] = r.WithFields(h.HeaderDown, h.HeaderUp).WithSupplied(h.Fixed, account.Kept())
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
	return h.checkLogins()
}
