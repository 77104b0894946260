package restapi

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
)

// passThrough sends an undeclared request as it is. Only the version is taken out of the path where
// the upstream does not know it, and put back into addresses that the upstream sends clients to.
func (h *REST) passThrough(w http.ResponseWriter, c *call) error {
	r := c.Request
	if c.strip && c.choice.Prefix != "" {
		up := mapping.Upstream{Method: r.Method, Path: cmp.Or(c.choice.Path, "/"), RawQuery: r.URL.RawQuery}
		trailer := r.Trailer
		r = upstreamRequest(r.Context(), w, r, up)
		r.Trailer = trailer // what is undeclared passes as it is
	}
	r = request.Copy(r)
	r.Body = httpx.Unclosed(r)
	return h.send(w, c, c.sender(), r, answer.NewPlain(nil), &h.dialect)
}

// locator returns a function that turns addresses in the upstream's answer to r into the client's.
func (h *REST) locator(c *call, r *http.Request) translate.Locate {
	return func(location string, u translate.Use) (string, bool) {
		to, err := url.Parse(location)
		if err != nil {
			return "", false
		}
		if to.Host != "" && !strings.EqualFold(to.Host, r.Host) && !httpx.HasHostPort(to, proxiedTo(r)) {
			return location, true // somewhere else
		}
		to = r.URL.ResolveReference(to)
		if at, ok := c.table.Locate(to.EscapedPath(), to.RawQuery, c.fits(u)); ok {
			return c.Prefix + at, true
		}
		if !c.table.Empty() && h.Undeclared != "pass" {
			return "", false
		}
		prefix := c.Prefix
		if !c.strip {
			prefix = strings.TrimSuffix(prefix, c.choice.Prefix)
		}
		to.Scheme, to.Host, to.User = "", "", nil
		at := prefix + to.String()
		if strings.HasPrefix(at, "//") { // without the host, clients would take the first segment for one
			at = "/." + at
		}
		return at, true
	}
}

// fits returns what reports whether an operation is for a use of an address.
func (c *call) fits(u translate.Use) func(*routes.Operation) bool {
	switch u {
	case translate.Read:
		return routes.Reads
	case translate.Repeat:
		return routes.Repeats(c.Match.Operation, c.Request.Method)
	}
	return routes.AnyOperation
}
