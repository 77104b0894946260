// Package oauthhttp reads the forms and bearer tokens of requests that programs send, and writes JSON answers and
// OAuth errors. It knows no endpoint, and neither clients nor tokens.
package oauthhttp

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// JSONType is the Content-Type of every JSON answer.
const JSONType = "application/json; charset=utf-8"

// Responder writes JSON answers. It alone logs the causes of errors.
type Responder struct{ Log *slog.Logger }

// errorBody is the error answer of RFC 6749 section 5.2, with the field that is wrong, as all errors of the gateway
// have it; null for none in particular.
type errorBody struct {
	Error       oauth.Code `json:"error"`
	Description string     `json:"error_description,omitempty"`
	Field       *string    `json:"field"`
}

// WriteError answers with the [oauth.Error] in err, or with server_error if there is none.
func (o Responder) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	e := AnswerTo(r, err)
	switch {
	case e.Status >= http.StatusInternalServerError:
		o.Log.Error("request not answered", slog.String("error", string(e.Code)), slog.Any("cause", e.Cause))
	case e.Cause != nil:
		o.Log.Warn("request refused", slog.String("error", string(e.Code)), slog.Any("cause", e.Cause))
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	body := errorBody{Error: e.Code, Description: Printable(e.Description)}
	if e.Field != "" {
		body.Field = &e.Field
	}
	o.WriteJSON(w, e.Status, body)
}

// WriteJSON answers with v as JSON.
func (o Responder) WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // only strings and numbers are ever given
		o.Log.Error("answer not encoded", slog.Any("cause", err))
		status, body = http.StatusInternalServerError, []byte(`{"error":"server_error","field":null}`)
	}
	w.Header().Set("Content-Type", JSONType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only when the client has gone
}

// clientGone is the answer that nobody receives.
var clientGone = oauth.E(httpx.ClientGone, "").WithStatus(httpx.StatusClientGone)

// AnswerTo is [AsError] for the answer to a request. What failed because the client has gone is no fault of the gateway.
func AnswerTo(r *http.Request, err error) *oauth.Error {
	e := AsError(err)
	if e.Status >= http.StatusInternalServerError && httpx.IsGone(r.Context(), e.Cause) {
		return clientGone
	}
	return e
}

// AsError returns the [oauth.Error] in err, or a server_error without a text whose cause is err.
func AsError(err error) *oauth.Error {
	if e := (*oauth.Error)(nil); errors.As(err, &e) {
		return e
	}
	return oauth.E(oauth.ServerError, "").WithCause(err)
}

// Printable keeps the characters that RFC 6749 section 5.2 allows in error_description.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, s)
}
