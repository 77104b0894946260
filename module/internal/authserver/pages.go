package authserver

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// pageError is a refusal that the person at the browser reads, because there is no
// client that could safely be told.
type pageError struct {
	status     int
	view       webui.ErrorView
	retryAfter int // seconds, 0 for none
}

func (e *pageError) Error() string { return e.view.Code + ": " + e.view.Detail }

func page(status int, code, detail string) *pageError {
	return &pageError{status: status, view: webui.ErrorView{Code: code, Detail: detail}}
}

// unavailablePage is for whatever is full or away for a moment.
func unavailablePage(retryAfter int) *pageError {
	return &pageError{status: http.StatusServiceUnavailable, view: webui.ErrorView{Code: "unavailable"}, retryAfter: retryAfter}
}

// refusal goes back to the client by redirect (RFC 6749 section 4.1.2.1).
type refusal struct {
	to  callback
	err *oauth.Error
}

func (e *refusal) Error() string { return e.err.Error() }

// frameError is an error that the person reads in a frame of a known client's site.
type frameError struct {
	error
	origins []string
}

func (e frameError) Unwrap() error { return e.error }

// inFrame has an error told in the frames of a client that the page would have stood in.
func inFrame(err error, client *oauth.Client, embedded bool) error {
	if err == nil || client == nil || !embedded {
		return err
	}
	return frameError{err, client.FrameOrigins}
}

// fail answers for every handler of the browser's half. An error of no known type is
// a fault of store, directory or keys: 503, never an answer about a password, and
// never a redirect, since the client could do nothing about it.
func (s *signIn) fail(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil {
		return
	}
	var p *pageError
	var form *httpx.FormError
	var back *refusal
	switch {
	case errors.As(err, &back):
		s.Log.Info("authorization refused", slog.String("error", string(back.err.Code)),
			slog.String("reason", printable(back.err.Description)))
		params := []string{"error", string(back.err.Code)}
		if !back.to.variantB {
			params = append(params, "error_description", printable(back.err.Description))
		}
		s.answer(w, r, back.to, params...)
		return
	case errors.As(err, &p):
	case errors.As(err, &form):
		code := "invalid_request"
		switch form.Status {
		case http.StatusRequestEntityTooLarge:
			code = "too_large"
		case http.StatusRequestTimeout:
			code = "too_slow"
		}
		p = page(form.Status, code, form.Reason)
	default:
		s.Log.Error("page not answered", slog.String("path", r.URL.Path), slog.String("request_id", s.RequestID(r)), slog.Any("cause", err))
		p = unavailablePage(1)
	}
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	v, in := p.view, frameError{}
	if errors.As(err, &in) {
		v.Frames = in.origins
	}
	s.errorPage(w, r, p.status, v)
}

// errorPage shows an error page, in the language of the browser when v has none.
func (s *Server) errorPage(w http.ResponseWriter, r *http.Request, status int, v webui.ErrorView) {
	if v.Lang == "" {
		v.Lang = s.Pages.Language(r, "")
	}
	v.RequestID = s.RequestID(r)
	s.Log.Debug("error page", slog.String("request_id", v.RequestID), slog.Int("status", status), slog.String("error", v.Code))
	s.Pages.Error(w, status, v)
}
