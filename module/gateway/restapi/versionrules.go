package restapi

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/gateway/apilimit"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// checkVersionRules applies to a request that names its version in Accept what guard and limits in
// front say about the path that names it: Accept must not be a way around a rule about /v2/*, nor
// around a higher charge there. Where no rule is about that path, the one that let the request pass
// holds.
func checkVersionRules(w http.ResponseWriter, c *call) error {
	if !c.byAccept() {
		return nil
	}
	if c.forbiddenByPath(c.Request.Method, c.choice.Path) {
		return envelope.Refuse(http.StatusForbidden, "this version of the API may not be used with this token")
	}
	return apilimit.ChargeItems(w, c.Request, c.Request.Method, []apilimit.Item{{Paths: c.addresses(c.choice.Path)}})
}

// byAccept reports whether Accept named the version of a request, rather than its path.
func (c *call) byAccept() bool { return c.choice.Version != nil && c.choice.Prefix == "" }

// addresses returns the paths that stand for a path without a version: the one that the client uses,
// and the one that names the version if the client's does not.
func (c *call) addresses(path string) []string {
	if c.byAccept() {
		return []string{path, "/" + c.choice.Version.Name + path}
	}
	return []string{c.choice.Prefix + path}
}

// forbiddenByPath reports whether the guard in front forbids the path that names the version which
// Accept named.
func (c *call) forbiddenByPath(method, path string) bool {
	forbidden := handler.Forbidden(c.Request)
	return c.byAccept() && forbidden != nil && forbidden(method, "/"+c.choice.Version.Name+path)
}
