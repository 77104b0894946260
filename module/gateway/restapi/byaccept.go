package restapi

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// asByPath holds a request that names its version in Accept to what guard and limit in
// front say of the address that names it: Accept is no way around a rule about /v2/*, nor
// around what is dearer there. Where no rule is about that address, the one that let the
// request pass is.
func asByPath(w http.ResponseWriter, c *call) error {
	if c.choice.Prefix != "" {
		return nil
	}
	path := "/" + c.choice.Version.Name + c.choice.Path
	if forbidden := gateway.Forbidden(c.r); forbidden != nil && forbidden(c.r.Method, path) {
		return gateway.Refuse(w, envelope.Refuse(http.StatusForbidden, "this version of the API may not be used with this token"))
	}
	return gateway.ChargeItems(w, c.r, c.r.Method, []string{path})
}
