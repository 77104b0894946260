package authserver

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
)

// callback is where the answer to an authorization request goes: a registered
// redirect address, and the state that must come along.
type callback struct {
	uri      string
	state    string
	fragment bool // for the implicit grant
	variantB bool // nothing goes along but code or error, and state
}

// answer redirects to the client with these names and values, state if there was one,
// and iss (RFC 9207), of which Variant B knows nothing. The status makes every browser use GET. The address of the page
// it comes from, which holds the request, is not told to the client's page.
func (s *signIn) answer(w http.ResponseWriter, r *http.Request, to callback, params ...string) {
	if to.state != "" {
		params = append(params, "state", to.state)
	}
	if !to.variantB {
		params = append(params, "iss", s.url(""))
	}
	if to.fragment {
		s.redirect(w, r, to.uri+"#"+strings.TrimPrefix(query.AppendTo("", params...), "?"))
		return
	}
	s.redirect(w, r, query.AppendTo(to.uri, params...))
}

// redirect has no body: net/http's would repeat the address, with the code, as HTML.
func (s *signIn) redirect(w http.ResponseWriter, r *http.Request, to string) {
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Location", to)
	h.Set("Content-Length", "0")
	status := http.StatusFound
	if r.Method == http.MethodPost {
		status = http.StatusSeeOther
	}
	w.WriteHeader(status)
}
