package guard

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// VaryByToken adds `Vary: Authorization` to a response that its API permits caches to store, so that a shared cache
// in front of the gateway gives it to no other caller, or to one without a token. By RFC 9111 section 3.5 that is needed
// only with `public`, `s-maxage` or `must-revalidate`, but nginx and most CDNs store whatever has a lifetime.
// Browsers may store it as before. Accept-Encoding is named because Caddy's `encode` in front of the guard would else
// add a line for it, and nginx 1.22 heeds the last line only.
func VaryByToken(h http.Header) {
	if isStorable(h) {
		addVary(h, "Authorization", "Accept-Encoding")
	}
}

// addVary adds fields to the Vary of a response, which is then one line.
func addVary(h http.Header, fields ...string) {
	have := h["Vary"]
	if httpguts.HeaderValuesContainsToken(have, "*") {
		return
	}
	for _, field := range fields {
		if !httpguts.HeaderValuesContainsToken(have, field) {
			have = append(have, field)
		}
	}
	h.Set("Vary", strings.Join(have, ", "))
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
