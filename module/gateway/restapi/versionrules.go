package restapi

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/gateway/apilimit"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// asByPath holds a request that names its version in Accept to what guard and limit in
// front say of the address that names it: Accept is no way around a rule about /v2/*, nor
// around what is dearer there. Where no rule is about that address, the one that let the
// request pass is.
func asByPath(w http.ResponseWriter, c *call) error {
	if !c.byAccept() {
		return nil
	}
	if c.forbiddenByPath(c.Request.Method, c.choice.Path) {
		return envelope.Refuse(http.StatusForbidden, "this version of the API may not be used with this token")
	}
	return apilimit.ChargeItems(w, c.Request, c.Request.Method, [][]string{c.addresses(c.choice.Path)})
}

// byAccept reports whether Accept named the version of a request, and not its path.
func (c *call) byAccept() bool { return c.choice.Version != nil && c.choice.Prefix == "" }

// addresses are those of a path without a version as this handler sees them: the one that the
// client uses, and the one that names the version if the client's does not.
func (c *call) addresses(path string) []string {
	if c.byAccept() {
		return []string{path, "/" + c.choice.Version.Name + path}
	}
	return []string{c.choice.Prefix + path}
}

// forbiddenByPath reports whether a rule of the guard in front keeps the caller from the address
// of a path that names the version which Accept named.
func (c *call) forbiddenByPath(method, path string) bool {
	forbidden := handler.Forbidden(c.Request)
	return c.byAccept() && forbidden != nil && forbidden(method, "/"+c.choice.Version.Name+path)
}
