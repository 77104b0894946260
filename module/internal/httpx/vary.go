package httpx

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// AddVary adds fields to the Vary of a response, and joins its lines: see [JoinVary].
func AddVary(h http.Header, fields ...string) {
	have := slices.Clip(h["Vary"])
	for _, field := range fields {
		if !httpguts.HeaderValuesContainsToken(have, field) {
			have = append(have, field)
		}
	}
	h["Vary"] = have
	JoinVary(h)
}

// JoinVary joins the lines of a response's Vary, if it has any: nginx 1.22 heeds only the last line, and `*` only if it is
// alone. If caches may store the response, Accept-Encoding is added, because Caddy's `encode` in front would otherwise add a
// line for it.
func JoinVary(h http.Header) {
	have := slices.Clip(h["Vary"])
	switch {
	case len(have) == 0:
		return
	case httpguts.HeaderValuesContainsToken(have, "*"):
		have = []string{"*"}
	case IsStorable(h) && !httpguts.HeaderValuesContainsToken(have, "Accept-Encoding"):
		have = append(have, "Accept-Encoding")
	}
	h.Set("Vary", strings.Join(have, ", "))
}

// IsStorable reports whether some shared cache stores such a response without being configured to.
func IsStorable(h http.Header) bool {
	for name := range h { // fields for caches of one kind: RFC 9213, such as CDN-Cache-Control, and older ones
		if strings.HasSuffix(name, "-Cache-Control") || name == "Surrogate-Control" || name == "Edge-Control" || name == "X-Accel-Expires" {
			return true
		}
	}
	control := h["Cache-Control"]
	return (len(control) > 0 || len(h["Expires"]) > 0) && !slices.ContainsFunc(control, forbidsStoring)
}

// forbidsStoring reports whether a Cache-Control keeps shared caches from storing the response. `private="X-Own"` concerns
// only that field.
func forbidsStoring(value string) bool {
	for directive := range strings.SplitSeq(value, ",") {
		switch strings.ToLower(strings.Trim(directive, " \t")) {
		case "private", "no-store":
			return true
		}
	}
	return false
}
