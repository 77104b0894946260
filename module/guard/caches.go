package guard

import (
	"net/http"
	"slices"
	"strings"
)

// VaryByToken adds `Vary: Authorization` to a response that its API permits caches to store, so that a shared cache
// in front of the gateway gives it to no other caller, or to one without a token. By RFC 9111 section 3.5 that is needed
// only with `public`, `s-maxage` or `must-revalidate`, but nginx and most CDNs store whatever has a lifetime.
// Browsers may store it as before.
func VaryByToken(h http.Header) {
	if isStorable(h) {
		addVary(h, "Authorization")
	}
}

// isStorable reports whether some shared cache takes a response for one that it may store, without being told so by its
// own configuration.
func isStorable(h http.Header) bool {
	for name := range h { // fields for caches of one kind: RFC 9213, such as CDN-Cache-Control, and older ones
		if strings.HasSuffix(name, "-Cache-Control") || name == "Surrogate-Control" || name == "Edge-Control" || name == "X-Accel-Expires" {
			return true
		}
	}
	control := h["Cache-Control"]
	return (len(control) > 0 || len(h["Expires"]) > 0) && !slices.ContainsFunc(control, forbidsStoring)
}

// forbidsStoring reads a Cache-Control. `private="X-Own"` is about that field alone.
func forbidsStoring(value string) bool {
	for directive := range strings.SplitSeq(value, ",") {
		switch strings.ToLower(strings.Trim(directive, " \t")) {
		case "private", "no-store":
			return true
		}
	}
	return false
}
