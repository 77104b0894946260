package authserver

import (
	"net/http"
	"strings"
)

// preflight sets the CORS headers of an answer, and answers OPTIONS itself where
// scripts may call at all; it then returns true. Keys, metadata and registration are for
// every origin, the token endpoint for those of registered clients, pages and what only
// servers call for none (RFC 9700 section 2.6). Credentials are never allowed: no answer
// depends on a cookie, and the combination with an echoed origin is how CORS is got wrong.
func (s *Server) preflight(w http.ResponseWriter, r *http.Request, rt route) bool {
	if !rt.public && !rt.scripts {
		return false
	}
	h := w.Header()
	allowed := rt.public
	if rt.public {
		h.Set("Access-Control-Allow-Origin", "*")
	} else {
		h.Add("Vary", "Origin") // also without one: a cache must not mix the two
		// "null" is what every sandboxed frame sends, so it names nobody.
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
	if allowed {
		h.Del("Access-Control-Expose-Headers")
		h.Set("Access-Control-Allow-Methods", methods)
		headers := "Authorization, Content-Type, If-None-Match"
		if rt.public {
			// Client libraries add fields of their own to requests for metadata, such as
			// MCP-Protocol-Version. The wildcard does not cover Authorization.
			headers += ", *"
		}
		h.Set("Access-Control-Allow-Headers", headers)
		h.Set("Access-Control-Max-Age", "600")
	}
	h.Set("Allow", methods)
	w.WriteHeader(http.StatusNoContent)
	return true
}
