package authserver

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// errorBody is the error answer of RFC 6749 section 5.2, and the field that is wrong, as all
// errors of the gateway have it; null for none in particular.
type errorBody struct {
	Error       oauth.Code `json:"error"`
	Description string     `json:"error_description,omitempty"`
	Field       *string    `json:"field"`
}

// writeError answers with e as JSON, and logs its cause: nobody else does.
func (s *Server) writeError(w http.ResponseWriter, e *oauth.Error) {
	switch {
	case e.Status >= http.StatusInternalServerError:
		s.Log.Error("request not answered", slog.String("error", string(e.Code)), slog.Any("cause", e.Cause))
	case e.Cause != nil:
		s.Log.Warn("request refused", slog.String("error", string(e.Code)), slog.Any("cause", e.Cause))
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	body := errorBody{Error: e.Code, Description: printable(e.Description)}
	if e.Field != "" {
		body.Field = &e.Field
	}
	s.writeJSON(w, e.Status, body)
}

// asError gives any error the form that may be answered. One that is not ours is
// server_error without a text.
func asError(err error) *oauth.Error {
	if e := (*oauth.Error)(nil); errors.As(err, &e) {
		return e
	}
	return oauth.E(oauth.ServerError, "").WithCause(err)
}

func (s *Server) writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // only strings and numbers are ever given
		s.Log.Error("answer not encoded", slog.Any("cause", err))
		status, body = http.StatusInternalServerError, []byte(`{"error":"server_error","field":null}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone: nobody is left to tell
}

// printable keeps what RFC 6749 section 5.2 allows in error_description.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, s)
}
