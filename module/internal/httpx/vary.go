package httpx

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// AddVary adds fields to the Vary of a response, which is then one line: nginx 1.22 heeds the last line only, and `*` only
// if it is alone. What a cache may store names Accept-Encoding too, or Caddy's `encode` in front would add a line for it.
func AddVary(h http.Header, fields ...string) {
	have := slices.Clip(h["Vary"])
	if httpguts.HeaderValuesContainsToken(have, "*") {
		h.Set("Vary", "*")
		return
	}
	if IsStorable(h) {
		fields = append(fields, "Accept-Encoding")
	}
	for _, field := range fields {
		if !httpguts.HeaderValuesContainsToken(have, field) {
			have = append(have, field)
		}
	}
	h.Set("Vary", strings.Join(have, ", "))
}

// IsStorable reports whether some shared cache takes a response for one that it may store, without being told so by its
// own configuration.
func IsStorable(h http.Header) bool {
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
