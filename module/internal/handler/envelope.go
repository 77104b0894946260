package handler

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// envelopeVar is the request variable with the response writer of the innermost api_errors.
const envelopeVar = "gatehouse.envelope"

// SetEnvelope records that api_errors answers the errors of a request. It is never undone: a
// proxy's goroutines may still read the variables after it has returned, and no handler in
// front of api_errors asks.
func SetEnvelope(r *http.Request, w *envelope.Writer) {
	caddyhttp.SetVar(r.Context(), envelopeVar, w)
}

// Shaped reports whether an api_errors in front answers the errors of a request.
func Shaped(r *http.Request) bool {
	_, ok := caddyhttp.GetVar(r.Context(), envelopeVar).(*envelope.Writer)
	return ok
}

// Unshaped removes api_errors from a copy of a request's variables, for a request whose
// errors nobody in front answers.
func Unshaped(vars map[string]any) { delete(vars, envelopeVar) }

// KeepAnswer stops api_errors from changing the answer, whose form a protocol prescribes.
func KeepAnswer(r *http.Request) {
	if w, ok := caddyhttp.GetVar(r.Context(), envelopeVar).(*envelope.Writer); ok {
		w.Untouched()
	}
}
