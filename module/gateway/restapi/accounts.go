package restapi

import (
	"errors"
	"fmt"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/signin"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// account is how the gateway signs in to a version's upstream; nil: it does not. That of the
// handler is good for the handler's upstream alone.
func (h *REST) account(v *Version) *login.Config {
	if len(v.Upstream) > 0 || v.Login != nil {
		return v.Login
	}
	return h.Login
}

// checkLogins reports what is wrong with the gateway's sign-ins, and with what would carry their
// sessions to clients, or a client's into them.
func (h *REST) checkLogins() error {
	if h.Login != nil && len(h.Upstream) == 0 && !h.unresolved {
		return errors.New("login needs an upstream of its own: expected `to`")
	}
	if err := h.checkLogin(h.Login, h.Resources); err != nil {
		return err
	}
	for i := range h.Versions {
		v := &h.Versions[i]
		if v.Login != nil && len(v.Upstream) == 0 {
			return fmt.Errorf("version %s: login needs an upstream of the version's own: expected `to` beside it, or login outside of the version", v.Name)
		}
		if err := h.checkLogin(h.account(v), v.resources(h.Resources)); err != nil {
			return fmt.Errorf("version %s: %w", v.Name, err)
		}
	}
	return nil
}

func (h *REST) checkLogin(account *login.Config, resources []resource.Resource) error {
	if account == nil {
		return nil
	}
	if err := account.Check(); err != nil {
		return err
	}
	table, err := routes.New(h.inherited(resources, account))
	if err != nil {
		return err
	}
	for _, o := range table.Operations() {
		if o.Answers.Fields().Named("Set-Cookie") || o.Requests.TakesCookies {
			return fmt.Errorf("resource %s: the session of login is in cookies that clients must neither see nor send: expected no header_up Cookie, and no header_down that lets Set-Cookie pass", o.Resource.Path)
		}
	}
	return nil
}

// Cleanup releases the sessions at the upstreams. The last configuration that uses one ends it.
func (h *REST) Cleanup() error {
	held := map[*signin.SignIn]bool{nil: true}
	var all []error
	for _, e := range append([]edition{h.plain}, h.editions...) {
		if !held[e.api.Login] {
			held[e.api.Login] = true
			_, err := keepers.Delete(e.keeper)
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
