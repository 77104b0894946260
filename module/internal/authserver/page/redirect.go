package page

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
)

// Callback is where the answer to an authorization request goes: a registered redirect
// address, and the state that must come along.
type Callback struct {
	URI      string
	State    string
	Fragment bool // for the implicit grant
	VariantB bool // only code or error, and state, are sent
}

// redirected is a refusal that the client is told by redirect (RFC 6749 section 4.1.2.1).
type redirected struct {
	error
	to Callback
}

func (e redirected) Unwrap() error { return e.error }

// SendBack makes of an error one that the client is told by redirect. A surface that cannot
// redirect finds the oauth.Error in it.
func SendBack(to Callback, err error) error { return redirected{err, to} }

// Answer redirects to the client with names and values, in turn, state if there was one, and
// iss (RFC 9207), which Variant B does not have.
func (p *Writer) Answer(w http.ResponseWriter, r *http.Request, to Callback, params ...string) {
	if to.State != "" {
		params = append(params, "state", to.State)
	}
	if !to.VariantB {
		params = append(params, "iss", p.Site.Issuer)
	}
	if to.Fragment {
		Redirect(w, r, to.URI+"#"+query.Encode(params...))
		return
	}
	Redirect(w, r, query.AppendTo(to.URI, params...))
}

// Redirect sends the browser to another address by GET, whatever the method was. There is no
// body, since net/http's would repeat the address, with the code, as HTML. The next page is not
// told the address of this one, which may hold a request.
func Redirect(w http.ResponseWriter, r *http.Request, to string) {
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
