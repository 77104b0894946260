package guard

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// What browser applications may read and send beyond the defaults. Requested
// headers are echoed, not listed, since trust depends on the origin.
const (
	corsExposed = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, " +
		"Retry-After, WWW-Authenticate, Allow, Location, Link, ETag, Deprecation, Sunset, Idempotency-Replayed, Preference-Applied"
	corsMaxAge        = "600" // seconds; Chrome's own limit is 7200
	corsMaxMethod     = 64    // bytes of a method, and of a name that the upstream exposes
	corsMaxExposed    = 50    // names that the upstream exposes
	corsDefaultHeader = "Authorization, Content-Type"
)

func anyOrigin(list []string) bool { return len(list) == 1 && list[0] == "*" }

func checkOrigins(list []string) error {
	for _, s := range list {
		if err := oauth.CheckOrigin(s); err != nil && !anyOrigin(list) {
			return fmt.Errorf("guard: origin %q %w, or * alone", s, err)
		}
	}
	return nil
}

// CORS are the header fields of every response to one request. The zero value
// sets nothing.
type CORS struct {
	active    bool
	any       bool
	origin    string // "" when it is not listed
	preflight bool
	methods   string
	headers   string
}

// CORS returns the fields for any response to the request: success, refusal, 429 and the
// upstream's own errors.
func (g *Guard) CORS(r *http.Request) CORS {
	listed := g.config.CORS
	if len(listed) == 0 {
		return CORS{}
	}
	c := CORS{active: true, any: anyOrigin(listed)}
	origin := r.Header["Origin"]
	switch {
	case c.any: // of requests without an origin too: a cache may give the response to one with
		c.origin = "*"
	case len(origin) == 1 && slices.Contains(listed, origin[0]):
		c.origin = origin[0]
	}
	if c.preflight = isPreflight(r); c.preflight {
		c.methods, c.headers = g.allowedMethods(r), cmp.Or(httpx.RequestedHeaders(r.Header), corsDefaultHeader)
	}
	return c
}

// allowedMethods returns the value of Access-Control-Allow-Methods. It includes a method beyond
// the common ones, such as PROPFIND of WebDAV, where the request that the preflight asks about
// could pass with the right token.
func (g *Guard) allowedMethods(r *http.Request) string {
	asked, ok := askedMethod(r.Header)
	if !ok || len(asked) > corsMaxMethod || slices.Contains(strings.Split(commonMethods, ", "), asked) {
		return commonMethods
	}
	path, fault := requestPath(r)
	if fault != "" {
		return commonMethods
	}
	if _, needed, safe := g.ruleFor(asked, path); !safe || needed == nil {
		return commonMethods
	}
	return commonMethods + ", " + asked
}

// Set puts the fields into h in place of the upstream's, but keeps the names that the upstream
// exposes beside ours. Call it just before the header is written.
func (c CORS) Set(h http.Header) {
	if !c.active {
		return
	}
	exposed := h["Access-Control-Expose-Headers"]
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			delete(h, name)
		}
	}
	if !c.any {
		httpx.AddVary(h, "Origin")
	}
	if c.preflight {
		httpx.AddVary(h, "Access-Control-Request-Method", "Access-Control-Request-Headers")
	}
	if c.origin == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", c.origin)
	if !c.preflight {
		h.Set("Access-Control-Expose-Headers", corsExposed+exposedNames(exposed))
		return
	}
	h.Set("Access-Control-Allow-Methods", c.methods)
	h.Set("Access-Control-Allow-Headers", c.headers)
	h.Set("Access-Control-Max-Age", corsMaxAge)
}

// exposedNames returns up to corsMaxExposed names that the upstream exposes besides ours, each
// after a comma. Its "*" stays: browsers heed it, because our responses never allow credentials.
func exposedNames(values []string) string {
	var more strings.Builder
	n := 0
	seen := strings.Split(strings.ToLower(corsExposed), ", ")
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			name = strings.Trim(name, " \t")
			lower := strings.ToLower(name)
			if n == corsMaxExposed {
				return more.String()
			}
			if !httpguts.ValidHeaderFieldName(name) || len(name) > corsMaxMethod || slices.Contains(seen, lower) {
				continue
			}
			seen = append(seen, lower)
			more.WriteString(", " + name)
			n++
		}
	}
	return more.String()
}
