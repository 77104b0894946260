package resource

import "strings"

// overrides are the header fields with which frameworks let a request override its method, and some
// servers its path.
var overrides = map[string]bool{
	"x-http-method-override": true, "x-http-method": true, "x-method-override": true, "x-original-url": true, "x-rewrite-url": true,
}

// Overrides reports whether a header field could override the method or path of its request. Only the
// gateway decides what a request is.
func Overrides(name string) bool { return overrides[cgiName(name)] }

// MethodMember is the member with which frameworks let a request override its method.
const MethodMember = "_method"

// cgiName returns a field's name as CGI and similar interfaces see it: they do not tell other
// characters than letters and digits apart.
func cgiName(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'A' <= c && c <= 'Z':
			return c | 0x20
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			return c
		}
		return '-'
	}, name)
}

// OverridesByQuery reports whether frameworks let a query parameter of this name override the method,
// in any spelling that they take for its name. PHP ends a name at a NUL.
func OverridesByQuery(name string) bool {
	name, _, _ = strings.Cut(strings.TrimLeft(name, " "), "[")
	name, _, _ = strings.Cut(name, "\x00")
	return cgiName(name) == "-method" || Overrides(name)
}
