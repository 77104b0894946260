package resource

import (
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// The header fields with which frameworks let a request override its method, and some servers its path. They all begin with x.
var (
	methodOverrides = map[string]bool{"x-http-method-override": true, "x-http-method": true, "x-method-override": true}
	pathOverrides   = map[string]bool{"x-original-url": true, "x-rewrite-url": true}
)

// NotOverridable says why a member or parameter is refused with which frameworks let a request override its method.
const NotOverridable = "must not be there: the method of a request cannot be overridden"

// Overrides reports whether a header field could override the method or path of its request. Only the
// gateway decides what a request is.
func Overrides(name string) bool {
	if name == "" || name[0]|0x20 != 'x' {
		return false
	}
	name = strings.Map(supply.FieldRune, name)
	return methodOverrides[name] || pathOverrides[name]
}

// MethodMember is the member with which frameworks let a request override its method.
const MethodMember = "_method"

// OverridesByMember reports whether frameworks let a member of this name override the method. ASP.NET MVC and ServiceStack
// read the header fields of this purpose in forms, too.
func OverridesByMember(name string) bool {
	return name == MethodMember || methodOverrides[strings.Map(supply.FieldRune, name)]
}

// OverridesByQuery reports whether frameworks let a query parameter of this name override the method,
// in any spelling that they take for its name. PHP ends a name at a NUL; Rack and qs, which Express
// uses, read `[_method]` as `_method`.
func OverridesByQuery(name string) bool {
	name = strings.TrimLeft(name, " []")
	if end := strings.IndexAny(name, "[]\x00"); end >= 0 {
		name = name[:end]
	}
	return strings.Map(supply.FieldRune, name) == "-method" || Overrides(name)
}
