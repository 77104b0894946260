package variantb

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/clientauth"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// The content types, exactly as they are sent: a charset parameter would make no difference to a
// JSON parser, and break the libraries that need text/plain.
const (
	jsonType = "application/json"
	textType = "text/plain"
)

func writeJSON(w http.ResponseWriter, status int, kind string, v any) {
	body, err := json.Marshal(v) // strings, numbers and lists of them can always be encoded
	if err != nil {
		status, body = http.StatusInternalServerError, nil
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone
}

// RefusePlaintext answers a request that came without TLS although the issuer is https.
func (e *Endpoints) RefusePlaintext(w http.ResponseWriter, _ *http.Request) {
	(&refusal{fault: plaintext}).write(w)
}

// writeError sends an error and returns its code for the metrics. The cause of an internal
// failure is logged here and nowhere else.
func (e *Endpoints) writeError(w http.ResponseWriter, r *http.Request, err error) (outcome string) {
	refused := asRefusal(err)
	switch {
	case refused.status >= http.StatusInternalServerError && httpx.IsGone(r.Context(), refused.cause):
		w.WriteHeader(httpx.StatusClientGone)
		return httpx.ClientGone
	case refused.status >= http.StatusInternalServerError:
		e.Log.Error("request not answered", slog.String("error", refused.code), slog.Any("cause", refused.cause))
	case refused.cause != nil:
		e.Log.Warn("request refused", slog.String("error", refused.code), slog.Any("cause", refused.cause))
	}
	refused.write(w)
	return refused.code
}

// asRefusal converts any error to a refusal.
func asRefusal(err error) *refusal {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return r
	}
	refused := (*oauth.Error)(nil)
	if !errors.As(err, &refused) {
		return &refusal{fault: ourFault, cause: err}
	}
	r := &refusal{retry: refused.RetryAfter, cause: refused.Cause}
	switch {
	case refused.Code == oauth.SlowDown:
		r.fault = tooOften
	case refused.Code == oauth.TemporarilyUnavailable:
		r.fault = unavailable
	case refused.Code == oauth.InvalidClient && errors.Is(err, clientauth.ErrUnknownApp):
		r.fault, r.cause = unknownAppID, nil
	case refused.Code == oauth.InvalidClient:
		r.fault = wrongSecret
	default:
		r.fault, r.cause = ourFault, err
	}
	return r
}

// NotFound answers a request for a path of the dialect that does not exist. Its callers read nothing
// but JSON.
func (*Endpoints) NotFound(w http.ResponseWriter, _ *http.Request) {
	(&refusal{fault: noSuchAddress}).write(w)
}

// Overloaded refuses a request because of overload; the caller sets Retry-After.
func (*Endpoints) Overloaded(w http.ResponseWriter, _ *http.Request) {
	(&refusal{fault: unavailable}).write(w)
}
