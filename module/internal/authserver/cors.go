package authserver

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// cors says which origins' scripts may read the answers of a route.
type cors int

const (
	// noOrigin is for pages and for endpoints that only servers call (RFC 9700 section 2.6).
	noOrigin cors = iota
	// registeredOrigins is for endpoints that clients in browsers call.
	registeredOrigins
	// everyOrigin is for answers that depend neither on a cookie nor on the network the browser
	// is in: keys, metadata and registration.
	everyOrigin
)

// answerCORS sets the CORS headers of an answer. Where scripts may call at all it answers OPTIONS
// itself, and then returns true. Credentials are never allowed: no answer depends on a cookie,
// and allowing them together with an echoed origin is the usual mistake.
func (s *Server) answerCORS(w http.ResponseWriter, r *http.Request, rt route) bool {
	if rt.cors == noOrigin {
		return false
	}
	h := w.Header()
	allowed := rt.cors == everyOrigin
	if allowed {
		h.Set("Access-Control-Allow-Origin", "*")
	} else {
		h.Add("Vary", "Origin") // even if there is none: a cache must not mix the two
		// Every sandboxed frame sends "null", so it identifies nobody.
		if origin := r.Header.Get("Origin"); origin != "" && origin != "null" && s.Clients.AllowsOrigin(origin) {
			allowed = true
			h.Set("Access-Control-Allow-Origin", origin)
		}
	}
	if allowed {
		h.Set("Access-Control-Expose-Headers", "Retry-After, WWW-Authenticate")
	}
	if r.Method != http.MethodOptions {
		return false
	}
	methods := strings.Join(rt.methods, ", ")
	if rt.cors == registeredOrigins {
		httpx.AddVary(h, "Access-Control-Request-Headers")
	}
	if allowed {
		h.Del("Access-Control-Expose-Headers")
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Allow-Headers", allowedHeaders(rt.cors, r.Header))
		h.Set("Access-Control-Max-Age", "600")
	}
	h.Set("Allow", methods)
	w.WriteHeader(http.StatusNoContent)
	return true
}

// allowedHeaders returns the header fields that a preflight allows besides those that every request may have. Client
// libraries add fields of their own: MCP-Protocol-Version to requests for metadata, X-Okta-User-Agent-Extended and
// those of tracing to any. A registered origin is allowed what it asks for, as at a guard: trust depends on the origin.
func allowedHeaders(allowed cors, asked http.Header) string {
	const usual = "Authorization, Content-Type, If-None-Match"
	if allowed == everyOrigin {
		return usual + ", *" // the wildcard does not cover Authorization
	}
	return cmp.Or(httpx.RequestedHeaders(asked), usual)
}
