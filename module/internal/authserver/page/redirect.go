package page

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
)

// Callback is where the response to an authorization request goes: a registered redirect URI and the state.
type Callback struct {
	URI      string
	State    string
	Fragment bool // implicit grant: parameters go into the fragment
	VariantB bool // send only code or error, and state
}

// redirected is a refusal sent to the client by redirect (RFC 6749 section 4.1.2.1).
type redirected struct {
	error
	to Callback
}

func (e redirected) Unwrap() error { return e.error }

// SendBack marks an error to be sent to the client by redirect. Surfaces that cannot redirect unwrap the
// oauth.Error in it.
func SendBack(to Callback, err error) error { return redirected{err, to} }

// Answer redirects to the client with alternating names and values, state if there was one, and, except in
// Variant B, iss (RFC 9207).
func (p *Writer) Answer(w http.ResponseWriter, r *http.Request, to Callback, params ...string) {
	if to.State != "" {
		params = append(params, "state", to.State)
	}
	if !to.VariantB {
		params = append(params, "iss", p.Site.issuer)
	}
	if to.Fragment {
		Redirect(w, r, to.URI+"#"+query.Encode(params...))
		return
	}
	Redirect(w, r, query.AppendTo(to.URI, params...))
}

// Redirect sends the browser to another address by GET, whatever the method was. There is no body, because
// net/http's would repeat the address, with the code, as HTML. No Referer is sent, because it may hold a request.
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
