package restapi

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/gateway/apilimit"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// checkVersionRules applies to a request that names its version in Accept what guard and limits in
// front say about the path that names it: Accept must not be a way around a rule about /v2/*, nor
// around a higher charge there. If no rule of a guard names any version, the rule that let the request pass
// decides.
func checkVersionRules(w http.ResponseWriter, c *call) error {
	if !c.byAccept() {
		return nil
	}
	if c.forbiddenByVersion(c.Request.Method, c.choice.Path) {
		return envelope.Refuse(http.StatusForbidden, "this version of the API may not be used with this token")
	}
	return apilimit.ChargeItems(w, c.Request, c.Request.Method, []apilimit.Item{{Also: c.versionAddress(c.choice.Path)}})
}

// byAccept reports whether Accept named the version of a request, rather than its path.
func (c *call) byAccept() bool { return c.choice.Version != nil && c.choice.Prefix == "" }

// versionAddress returns the path that names the version which Accept named, for a path without one. It is empty if
// Accept named none.
func (c *call) versionAddress(path string) string {
	if !c.byAccept() {
		return ""
	}
	return "/" + c.choice.Version.Name + path
}

// forbiddenByVersion reports whether the guard in front forbids the path that names the version which
// Accept named.
func (c *call) forbiddenByVersion(method, path string) bool {
	forbidden, address := handler.Forbidden(c.Request, c.versionRoots), c.versionAddress(path)
	return forbidden != nil && address != "" && forbidden(method, address)
}

// permits returns what the guards in front let the caller do, as [handler.Permits] does. Whoever follows a link names the version in
// Accept again, so the rules about the path that names it count, too.
func (c *call) permits() func(method, path string) bool {
	permits := handler.Permits(c.Request)
	if permits == nil || !c.byAccept() {
		return permits
	}
	taken := handler.Taken(c.Request)
	return func(method, path string) bool {
		own, below := strings.CutPrefix(path, taken)
		return permits(method, path) && !(below && c.forbiddenByVersion(method, own))
	}
}
