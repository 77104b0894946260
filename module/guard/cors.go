package guard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// What a browser's application may read and send beyond the defaults. Requested
// headers are echoed instead of listed: the origin is what is trusted.
const (
	corsExposed = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, " +
		"Retry-After, WWW-Authenticate, Allow, Location, Link, ETag, Deprecation, Sunset"
	corsMaxAge        = "600" // seconds; Chrome's own limit is 7200
	corsMaxRequested  = 1024
	corsMaxMethod     = 64 // bytes of a method, and of a name that the upstream exposes
	corsMaxExposed    = 50 // names that the upstream exposes
	corsDefaultHeader = "Authorization, Content-Type"
)

type origins struct {
	listed []string
	any    bool
}

func (o origins) none() bool { return !o.any && len(o.listed) == 0 }

func compileOrigins(list []string) (origins, error) {
	if slices.Equal(list, []string{"*"}) {
		return origins{any: true}, nil
	}
	for _, s := range list {
		if err := oauth.CheckOrigin(s); err != nil {
			return origins{}, fmt.Errorf("guard: origin %q %w, or * alone", s, err)
		}
	}
	return origins{listed: list}, nil
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

// CORS computes them. They are for whatever response the request gets: success,
// refusal, 429 and the upstream's own errors.
func (g *Guard) CORS(r *http.Request) CORS {
	if g.origins.none() {
		return CORS{}
	}
	c := CORS{active: true, any: g.origins.any}
	origin := r.Header["Origin"]
	switch {
	case c.any && len(origin) > 0:
		c.origin = "*"
	case len(origin) == 1 && slices.Contains(g.origins.listed, origin[0]):
		c.origin = origin[0]
	}
	if c.preflight = isPreflight(r); c.preflight {
		c.methods, c.headers = g.allowedMethods(r), requestedHeaders(r.Header)
	}
	return c
}

// allowedMethods is the list of Access-Control-Allow-Methods. Methods beyond the usual ones,
// such as PROPFIND of WebDAV, are in it where the request that the preflight asks about could
// pass with the right token.
func (g *Guard) allowedMethods(r *http.Request) string {
	asked, ok := askedMethod(r.Header)
	if !ok || len(asked) > corsMaxMethod || slices.Contains(strings.Split(allowed, ", "), asked) {
		return allowed
	}
	path, fault := requestPath(r)
	if fault != "" {
		return allowed
	}
	if at, safe := g.ruleFor(asked, path); !safe || at < 0 && !g.open {
		return allowed
	}
	return allowed + ", " + asked
}

// Set puts the fields into h, in place of the upstream's, except that the names it exposes are
// kept beside ours. It is to be called just before the header is written.
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
		vary(h, "Origin")
	}
	if c.preflight {
		vary(h, "Access-Control-Request-Method")
		vary(h, "Access-Control-Request-Headers")
	}
	if c.origin == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", c.origin)
	if !c.preflight {
		h.Set("Access-Control-Expose-Headers", corsExposed+alsoExposed(exposed))
		return
	}
	h.Set("Access-Control-Allow-Methods", c.methods)
	h.Set("Access-Control-Allow-Headers", c.headers)
	h.Set("Access-Control-Max-Age", corsMaxAge)
}

// alsoExposed are the names that the upstream exposes besides ours, each after a comma. Its "*"
// stays one: browsers heed it, because our answers never allow credentials. What is no name, and
// what goes beyond corsMaxExposed names, is left out.
func alsoExposed(values []string) string {
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
			if !isSchemeName(name) || len(name) > corsMaxMethod || slices.Contains(seen, lower) {
				continue
			}
			seen = append(seen, lower)
			more.WriteString(", " + name)
			n++
		}
	}
	return more.String()
}

// requestedHeaders is what may be echoed: a list of header names, bounded.
func requestedHeaders(h http.Header) string {
	list := strings.Join(h["Access-Control-Request-Headers"], ", ")
	if list == "" || len(list) > corsMaxRequested {
		return corsDefaultHeader
	}
	for name := range strings.SplitSeq(list, ",") {
		if !isSchemeName(strings.Trim(name, " \t")) {
			return corsDefaultHeader
		}
	}
	return list
}

func vary(h http.Header, field string) {
	for _, v := range h["Vary"] {
		for have := range strings.SplitSeq(v, ",") {
			if have = strings.TrimSpace(have); have == "*" || strings.EqualFold(have, field) {
				return
			}
		}
	}
	h.Add("Vary", field)
}
