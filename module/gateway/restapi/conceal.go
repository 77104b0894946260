package restapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// concealed are header fields and parameters of the query that the gateway adds to an
// upstream's request below Caddy's proxy: the proxy logs the request that it was given, with its
// header and address, for every answer at level DEBUG, and at WARN for one that breaks off.
// The transport that concealingRoutes puts into the proxies reveals them.
type concealed struct {
	header http.Header
	query  string
	// withhold are fields of the answer that the proxy is not told, such as the id of a session,
	// and secret reports a value that it is not told in any field, as where an upstream redirects
	// to the address it was asked at. It may be nil.
	withhold []string
	secret   func(string) bool
	answer   http.Header // what it was not told
}

type concealedKey struct{}

// newConcealed returns nil, which conceals nothing, where an edition's route would not reveal it.
func newConcealed(reveals bool, withhold []string, secret func(string) bool) *concealed {
	if !reveals {
		return nil
	}
	return &concealed{header: make(http.Header), withhold: withhold, secret: secret}
}

// apply writes parameters into a request as supply.Apply does, apart from what is concealed.
func (c *concealed) apply(r *http.Request, params []supply.Param, as string) error {
	query := r.URL.RawQuery
	if err := supply.Apply(r, params, as); err != nil || c == nil {
		return err
	}
	for _, p := range params {
		if p.In == supply.Header {
			c.take(r.Header, p.Name)
		}
	}
	c.query = joinQuery(c.query, strings.TrimPrefix(strings.TrimPrefix(r.URL.RawQuery, query), "&"))
	r.URL.RawQuery = query
	return nil
}

// setCookie sets the request's Cookie.
func (c *concealed) setCookie(r *http.Request, cookie string) {
	r.Header.Set("Cookie", cookie)
	if c != nil {
		c.take(r.Header, "Cookie")
	}
}

// take takes a field out of a header.
func (c *concealed) take(h http.Header, name string) {
	name = http.CanonicalHeaderKey(name)
	if values, ok := h[name]; ok {
		c.header[name] = values
		delete(h, name)
	}
}

// in is the request with what is concealed.
func (c *concealed) in(r *http.Request) *http.Request {
	if c == nil {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), concealedKey{}, c))
}

// out is the writer of an answer, which gives its header what the proxy was not told.
func (c *concealed) out(w http.ResponseWriter) http.ResponseWriter {
	if c == nil {
		return w
	}
	return responsewriter.OnHeader(w, c.restore)
}

// reveal is the request as it is sent. A field that the proxy has set itself, as by header_up,
// stays.
func (c *concealed) reveal(r *http.Request) *http.Request {
	q := request.Copy(r)
	for name, values := range c.header {
		if !sets(q.Header, name) {
			q.Header[name] = values
		}
	}
	q.URL.RawQuery = joinQuery(q.URL.RawQuery, c.query)
	return q
}

// sets reports whether a header has a field that upstreams may take for the one with a name.
func sets(h http.Header, name string) bool {
	for other, values := range h {
		if supply.SameField(other, name) && strings.Join(values, "") != "" { // the proxy sets an empty User-Agent
			return true
		}
	}
	return false
}

// keep takes from an answer's header what the proxy is not told.
func (c *concealed) keep(h http.Header) {
	c.answer = make(http.Header)
	for name, values := range h {
		if slices.Contains(c.withhold, name) || c.secret != nil && slices.ContainsFunc(values, c.secret) {
			c.answer[name] = values
			delete(h, name)
		}
	}
}

// restore gives an answer's header what the proxy was not told.
func (c *concealed) restore(h http.Header) {
	if c == nil {
		return
	}
	for name, values := range c.answer {
		h[name] = values
	}
	c.answer = nil
}

func joinQuery(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}
