package conceal

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// Values are header fields and query parameters that are added to a request below Caddy's proxy.
// The proxy logs the request that it was given, with header and address, for every answer at
// level DEBUG, and at WARN for one that breaks off. A nil *Values conceals nothing.
type Values struct {
	header http.Header
	query  string
	// withhold are fields of the answer that the proxy must not see, such as the id of a session,
	// and secret reports a value that it must not see in any field, as where an API redirects to
	// the address it was asked at. It may be nil.
	withhold []string
	secret   func(string) bool
	answer   http.Header // the withheld fields of the answer
}

// New returns values for one request. reveals says whether the transport that adds them is in
// the route to the API; without it New returns nil. withhold are fields of the answer that the
// proxy must not see; secret, which may be nil, reports values that it must not see.
func New(reveals bool, withhold []string, secret func(string) bool) *Values {
	if !reveals {
		return nil
	}
	return &Values{header: make(http.Header), withhold: withhold, secret: secret}
}

// Apply adds parameters to a request as supply.Apply does, but conceals those in the header and
// in the query.
func (v *Values) Apply(r *http.Request, params []supply.Param, as string) error {
	query := r.URL.RawQuery
	if err := supply.Apply(r, params, as); err != nil || v == nil {
		return err
	}
	for _, p := range params {
		if p.In == supply.Header {
			v.TakeField(r.Header, p.Name)
		}
	}
	v.query = joinQuery(v.query, strings.TrimPrefix(strings.TrimPrefix(r.URL.RawQuery, query), "&"))
	r.URL.RawQuery = query
	return nil
}

// SetCookie sets the request's Cookie.
func (v *Values) SetCookie(r *http.Request, cookie string) {
	r.Header.Set("Cookie", cookie)
	if v != nil {
		v.TakeField(r.Header, "Cookie")
	}
}

// SetQuery conceals a query.
func (v *Values) SetQuery(query string) { v.query = query }

// TakeField moves a field from a header to the concealed ones.
func (v *Values) TakeField(h http.Header, name string) {
	name = http.CanonicalHeaderKey(name)
	if values, ok := h[name]; ok {
		v.header[name] = values
		delete(h, name)
	}
}

type contextKey struct{}

// Request returns the request that carries the values to the transport.
func (v *Values) Request(r *http.Request) *http.Request {
	if v == nil {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), contextKey{}, v))
}

// Writer returns a writer that restores the fields of the answer that the proxy did not see.
func (v *Values) Writer(w http.ResponseWriter) http.ResponseWriter {
	if v == nil {
		return w
	}
	return responsewriter.OnHeader(w, v.Restore)
}

// Restore puts the withheld fields back into the answer's header.
func (v *Values) Restore(h http.Header) {
	if v == nil {
		return
	}
	for name, values := range v.answer {
		h[name] = values
	}
	v.answer = nil
}

// RoundTrip sends a request with what is concealed of it, and withholds fields of the answer.
func RoundTrip(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	v, ok := r.Context().Value(contextKey{}).(*Values)
	if !ok {
		return next.RoundTrip(r)
	}
	a, err := next.RoundTrip(v.reveal(r))
	if err == nil {
		v.keep(a.Header)
	}
	return a, err
}

// Reveal returns a request with what is concealed of it, for a proxy that logs nothing of it.
func Reveal(r *http.Request) *http.Request {
	if v, ok := r.Context().Value(contextKey{}).(*Values); ok {
		return v.reveal(r)
	}
	return r
}

// WithQuery returns a query with what is concealed of a request's.
func WithQuery(r *http.Request, query string) string {
	if v, ok := r.Context().Value(contextKey{}).(*Values); ok {
		return joinQuery(query, v.query)
	}
	return query
}

// reveal returns the request as it is sent. A field that the proxy has set itself, as with
// header_up, stays.
func (v *Values) reveal(r *http.Request) *http.Request {
	c := request.Copy(r)
	for name, values := range v.header {
		if !hasField(c.Header, name) {
			c.Header[name] = values
		}
	}
	c.URL.RawQuery = joinQuery(c.URL.RawQuery, v.query)
	return c
}

// hasField reports whether a header has a field that APIs may take for the one with a name.
func hasField(h http.Header, name string) bool {
	for other, values := range h {
		if supply.SameField(other, name) && strings.Join(values, "") != "" { // the proxy sets an empty User-Agent
			return true
		}
	}
	return false
}

// keep takes from an answer's header what the proxy must not see.
func (v *Values) keep(h http.Header) {
	v.answer = make(http.Header)
	for name, values := range h {
		if slices.Contains(v.withhold, name) || v.secret != nil && slices.ContainsFunc(values, v.secret) {
			v.answer[name] = values
			delete(h, name)
		}
	}
}

func joinQuery(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}
